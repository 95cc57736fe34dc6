import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineSurface, mcp, operationRegistry } from "../../src/index.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createTestClient } from "../../src/testing/index.ts";

const registry = operationRegistry();
const ran: string[] = [];
registry.register({ name: "run", inputSchema: z.object({ job: z.string().optional() }) }, ({ job = "all" }) => {
  ran.push(job);
  return { job };
});
const app = mcp(defineSurface("ci", {}), { onFault: () => {} })
  .implement({})
  .mount("job", registry)
  .views({ hub: { face: "gateway" } });
const client = createTestClient(app, { view: "hub" });
afterAll(() => client.close());

async function call(name: string, args: JsonObject): Promise<JsonObject> {
  return client.request("tools/call", { name, arguments: args });
}

describe("a gateway that is asked by misspelt arguments", () => {
  it("tells the model which of them there are when one of its tools has none of that name", async () => {
    const answer = await call("search", { query: "run" });
    expect(answer["isError"]).toBe(true);
    expect(JSON.stringify(answer["content"])).toContain(
      "query: there is no such argument; expected q, namespace, limit",
    );
  });

  it("runs those that are well written, and nothing that the others might have meant, when it has some of both", async () => {
    ran.length = 0;
    const calls = [
      { tool: "job.run", input: { job: "a" } },
      { tool: "job.run", arguments: { job: "b" } },
      "job.run",
      { tool: "job.run", input: { job: "c" } },
    ];
    const answer = await call("call", { calls });
    expect(ran).toEqual(["a", "c"]);
    expect(answer["isError"]).toBeUndefined();
    const failed = (path: string, message: string): object => ({
      success: false,
      error: { code: "VALIDATION_ERROR", message: "the arguments do not fit", details: [{ path, message }] },
    });
    expect(answer["structuredContent"]).toEqual({
      results: [
        { success: true, result: { job: "a" } },
        failed("calls.1.arguments", "there is no such argument; expected tool, input"),
        failed("calls.2", "expected { tool, input? }, an object"),
        { success: true, result: { job: "c" } },
      ],
    });
  });

  it("says no more of an operation that is there than of one that is not when both are asked wrongly", async () => {
    const calls = ["job.run", "no.such"].map((tool) => ({ tool, args: {} }));
    const { structuredContent } = await call("call", { calls });
    // As call answers.
    const { results } = structuredContent as { readonly results: readonly JsonObject[] };
    const [there, absent] = results.map((result) => JSON.stringify(result).replace(/calls\.\d/, "calls"));
    expect(there).toBe(absent);
  });
});
