import { describe, expect, it, vi } from "vitest";
import { CallContext, type ProgressSink } from "../../src/call/call-context.ts";
import { content } from "../../src/catalog/content/content.ts";
import { ada, toolsOf } from "./nesting-support.ts";

describe("addMeta()", () => {
  it.each<[string, unknown]>([
    ["is too much", { x: "x".repeat(5000) }],
    ["is no JSON", { x: () => 1 }],
    ["is no object", "x"],
  ])("leaves out %s, and reports it", async (_name, members) => {
    // What only a caller who casts can say.
    const tools = toolsOf({ t: { handler: (_args, { addMeta }) => (addMeta({ a: 1 }), addMeta(members as never)) } });
    const { call, outcome } = tools.start("t");
    expect((await outcome).kind).toBe("answer");
    expect(call.meta).toEqual({ a: 1 });
    expect(tools.faults).toHaveLength(1);
  });

  it("adds nothing to nested calls", async () => {
    const tools = toolsOf({
      t: { handler: (_args, { addMeta }) => addMeta({ a: 1 }) },
      host: { canCall: ["t"], handler: (_args, { call }) => call("t") },
    });
    const { call, outcome } = tools.start("host");
    await outcome;
    expect(call.meta).toBeUndefined();
  });

  it("merges the _meta of handed-on calls and of progress up to its bound", () => {
    const above = new CallContext({ caller: ada });
    new CallContext({ caller: ada, partOf: { call: above } }).addMeta({ b: 2 });
    expect(above.meta).toEqual({ b: 2 });
    const sink = vi.fn<ProgressSink>();
    const call = new CallContext({ sink });
    call.progress({ progress: 1, meta: { step: "x" } });
    call.progress({ progress: 2, meta: { step: "x".repeat(5000) } });
    expect(sink.mock.calls).toEqual([[{ progress: 1, meta: { step: "x" } }], [{ progress: 2 }]]);
  });
});

describe("content() of a failed call", () => {
  it("says so, with the author's own blocks", async () => {
    const tools = toolsOf({ t: { handler: () => content(["no"], { isError: true }) } });
    expect(await tools.call("t")).toMatchObject({
      kind: "rich",
      isError: true,
      blocks: '[{"type":"text","text":"no"}]',
    });
    expect(() => content([], { isError: "yes" as never })).toThrow('"isError" must be true or false');
  });
});
