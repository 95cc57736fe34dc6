import { afterEach, describe, expect, it } from "vitest";
import type { McpOptions } from "../../src/index.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createFeaturesApp, pixel } from "./features-app.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

interface Way {
  readonly era: Era;
}

const ways = [{ era: "legacy" }, { era: "modern" }] as const;

async function open({ era }: Way, more: McpOptions = {}): Promise<(method: string, params: object) => Promise<Sent>> {
  const harness = await new ConnectionHarness(createFeaturesApp(more).open()).open(era);
  opened.push(harness);
  let id = 0;
  return async (method, params) => {
    id += 1;
    return harness.request(era, id, { method, params });
  };
}

describe.each(ways)("prompts, in the $era era", (way) => {
  it("are listed, sorted, with their arguments, icons and _meta", async () => {
    const request = await open(way);
    const { result } = await request("prompts/list", {});
    expect(Reflect.get(Object(result), "prompts")).toEqual([
      {
        name: "broken",
        arguments: [
          { name: "any", required: true },
          { name: "junk", required: true },
        ],
      },
      {
        name: "fetch",
        arguments: [
          { name: "shelf", required: true },
          { name: "box", required: true },
        ],
      },
      { name: "hello" },
      { name: "refused" },
      {
        name: "review",
        title: "Review a track",
        description: "Asks for a review",
        icons: [{ src: "https://studio.example/icon.png", mimeType: "image/png" }],
        _meta: { "studio/x": [1] },
        arguments: [
          { name: "track", title: "Track", description: "Its name", required: true },
          { name: "tone", required: true },
          { name: "bars", required: false },
        ],
      },
    ]);
    expect(result).toMatchObject(way.era === "modern" ? { ttlMs: 0, cacheScope: "private" } : {});
  });

  it("are listed page by page when pages are small", async () => {
    const request = await open(way, { pageSize: 4 });
    const first = await request("prompts/list", {});
    const cursor: unknown = Reflect.get(Object(first["result"]), "nextCursor");
    const second = await request("prompts/list", { cursor });
    expect(second).toHaveProperty("result.prompts.0.name", "review");
    expect(await request("prompts/list", { cursor: "nope" })).toHaveProperty("error.code", -32602);
  });

  it("are written with text arguments, whatever their type in the schema", async () => {
    const request = await open(way);
    const args = { track: "drums", tone: "kind", bars: "8" };
    const { result } = await request("prompts/get", { name: "review", arguments: args });
    expect(result).toMatchObject({
      description: "Asks for a review",
      messages: [
        { role: "user", content: { type: "text", text: "Review drums, kind, 8 bars" } },
        { role: "assistant", content: { type: "image", data: pixel, mimeType: "image/png" } },
      ],
    });
    // It is not among the results that may be cached.
    expect(result).not.toHaveProperty("ttlMs");
  });

  it("are written in well-formed JSON", async () => {
    const request = await open(way);
    const { result } = await request("prompts/get", { name: "hello" });
    expect(result).toMatchObject({ messages: [{ role: "user", content: { type: "text", text: "Hello\ufffd" } }] });
    expect(result).not.toHaveProperty("description");
  });

  it.each([
    { track: "drums" },
    { track: "drums", tone: "rude" },
    { track: "drums", tone: "kind", bars: "eight" },
    { track: "drums", tone: "kind", bars: "0" },
  ])("refuse %j with the issue", async (args) => {
    const request = await open(way);
    const answer = await request("prompts/get", { name: "review", arguments: args });
    expect(answer).toHaveProperty("error.code", -32602);
    expect(answer).toHaveProperty("error.message", expect.stringMatching(/^VALIDATION_ERROR: .*\n.*(tone|bars)/s));
  });

  it.each([{}, { name: 5 }, { name: "review", arguments: null }, { name: "review", arguments: { track: 5 } }])(
    "refuse %j",
    async (params) => {
      const request = await open(way);
      const answer = await request("prompts/get", params);
      // The SDK's own schema refuses them, in its own code.
      expect([-32602, -32603]).toContain(Reflect.get(Object(answer["error"]), "code"));
    },
  );

  it.each(["nope", "__proto__", "picture", "", "vault"])("refuse the unknown %j, in one text for all", async (name) => {
    const request = await open(way);
    const answer = await request("prompts/get", { name });
    expect(answer["error"]).toEqual({ code: -32602, message: "Invalid params: there is no such prompt" });
  });

  it("are refused, with a report, when they exceed the size of one answer", async () => {
    const faults: Fault[] = [];
    const request = await open(way, { maxResultBytes: 5000, onFault: (fault) => faults.push(fault) });
    const ask = (size: number): Promise<Sent> =>
      request("prompts/get", { name: "review", arguments: { track: "ü".repeat(size), tone: "kind" } });
    expect(await ask(2000)).toHaveProperty("result.messages");
    expect(faults).toEqual([]);
    const refused = await ask(2500);
    expect(refused["error"]).toMatchObject({
      code: -32603,
      data: {
        code: "RESULT_TOO_LARGE",
        details: { bytes: expect.any(Number) },
        correlationId: faults[0]?.correlationId,
      },
    });
    expect(JSON.stringify(refused)).not.toContain("üü");
    expect(faults).toMatchObject([{ where: 'prompt "review"', cause: { code: "INVALID_OUTPUT" } }]);
  });

  it("pass on a refusal in its author's words, and mask everything else", async () => {
    const request = await open(way);
    expect((await request("prompts/get", { name: "refused" }))["error"]).toEqual({
      code: -32603,
      message: "CLOSED_TODAY: The studio is closed",
      data: { code: "CLOSED_TODAY", message: "The studio is closed", details: { until: "Monday" } },
    });
    const masked = await request("prompts/get", { name: "broken", arguments: { any: "a", junk: "b" } });
    expect(masked).toHaveProperty("error.code", -32603);
    expect(JSON.stringify(masked)).not.toContain("secret");
  });
});
