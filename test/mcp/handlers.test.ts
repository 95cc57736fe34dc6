import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal, cell, cellSource, defineSurface, mcp, mcpResource, mcpTool, procedure } from "../../src/index.ts";
import { ConnectionHarness } from "./connection-harness.ts";

const half = "a\ud83d";
const whole = "a\ufffd";

const surface = defineSurface("halves", {
  state: mcpResource(cell({ schema: z.string() })),
  say: mcpTool(procedure({ input: z.object({}), output: z.string() })),
  refuse: mcpTool(procedure({ input: z.object({}), output: z.string() })),
});

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

async function open(): Promise<ConnectionHarness> {
  const app = mcp(surface, { uriPrefix: "app://" }).implement({
    state: cellSource(half),
    say: () => half,
    refuse: () => {
      throw new Refusal("HALF", half, { half });
    },
  });
  const harness = new ConnectionHarness(app.open());
  opened.push(harness);
  return harness.open("modern");
}

// A text that was cut in the middle of a character; strict parsers refuse a whole message that holds one.
describe("createHandlers() when a text holds half a character", () => {
  it("writes a tool's answer that every parser accepts", async () => {
    const harness = await open();
    const answer = await harness.request("modern", 1, { method: "tools/call", params: { name: "say" } });
    expect(answer["result"]).toMatchObject({ structuredContent: { value: whole } });
    const text: unknown = Reflect.get(Object(answer["result"]), "content")[0].text;
    expect(text).toBe("a\ufffd");
  });

  it("writes a refusal that every parser accepts", async () => {
    const harness = await open();
    const answer = await harness.request("modern", 1, { method: "tools/call", params: { name: "refuse" } });
    expect(answer["result"]).toMatchObject({
      isError: true,
      content: [{ text: `HALF: ${whole}` }],
      _meta: { "surface-mcp/error": { message: whole, details: { half: whole } } },
    });
  });

  it("writes a resource that every parser accepts", async () => {
    const harness = await open();
    const answer = await harness.request("modern", 1, { method: "resources/read", params: { uri: "app://state" } });
    expect(answer["result"]).toMatchObject({ contents: [{ text: String.raw`"a\ufffd"` }] });
  });
});
