import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import type { Schema } from "../../src/schema/standard.ts";
import { internalError } from "../../src/surface/fault.ts";
import { bespoke, callOnce, loggingInvoker, surfaceOwned } from "./support.ts";

const never = (): Promise<never> => new Promise(() => {});
const shortMs = 30;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

describe("Invoker.call() with a hand-written tool", () => {
  it("call() passes the parsed arguments to the handler", async () => {
    const handler = vi.fn<(args: unknown) => unknown>((args) => args);
    const input = z.object({ n: z.number().default(3), text: z.string().trim() });
    const { outcome } = await callOnce(bespoke({ input, handler }), { text: " x " });
    expect(outcome).toEqual({ kind: "answer", text: '{"n":3,"text":"x"}' });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("call() refuses arguments that do not fit before the handler is run", async () => {
    const handler = vi.fn<() => void>();
    const input = z.object({ a: z.object({ b: z.number() }) });
    const { outcome, faults } = await callOnce(bespoke({ input, handler }), { a: { b: "x" } });
    expect(outcome).toMatchObject({ code: "VALIDATION_ERROR", issues: [{ path: "a.b" }], correlationId: undefined });
    expect(handler).not.toHaveBeenCalled();
    expect(faults).toEqual([]);
  });

  it("call() names a value that is no object by the key it travels under", async () => {
    const entry = bespoke({ input: z.array(z.number()), handler: (args) => args });
    const wrong = await callOnce(entry, { value: [1, "x"] });
    expect(wrong.outcome).toMatchObject({ issues: [{ path: "value.1" }] });
    const missing = await callOnce(entry, {});
    expect(missing.outcome).toMatchObject({ issues: [{ path: "value" }] });
    const right = await callOnce(entry, { value: [1, 2] });
    expect(right.outcome).toEqual({ kind: "answer", text: '{"value":[1,2]}' });
  });

  it("call() passes undefined to a handler without input, for any arguments", async () => {
    const handler = vi.fn<() => string>(() => "ok");
    await callOnce(bespoke({ handler }), { stray: 1 });
    expect(handler).toHaveBeenCalledWith(undefined, expect.anything());
  });

  it("call() waits for schemas that are asynchronous, on either side", async () => {
    const slow = z.string().refine(async (text) => text !== "bad");
    const entry = bespoke({
      input: z.object({ text: slow }),
      output: z.object({ text: slow }),
      handler: (args) => (z.object({ text: z.string() }).parse(args).text === "turn" ? { text: "bad" } : args),
    });
    expect((await callOnce(entry, { text: "good" })).outcome).toEqual({ kind: "answer", text: '{"text":"good"}' });
    expect((await callOnce(entry, { text: "bad" })).outcome).toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await callOnce(entry, { text: "turn" })).outcome).toMatchObject({ code: "INVALID_OUTPUT" });
  });

  it("call() refuses an answer that does not fit, without the value, and logs it", async () => {
    const entry = bespoke({ output: z.object({ n: z.number() }), handler: () => ({ n: "secret", other: "secret" }) });
    const { outcome, faults } = await callOnce(entry);
    expect(outcome).toMatchObject({ code: "INVALID_OUTPUT", issues: [], correlationId: faults[0]?.correlationId });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it.each([
    ["a cycle", cyclic],
    ["a bigint", (): unknown => 10n],
    ["a function", (): unknown => () => "secret"],
    ["a function inside", (): unknown => ({ deep: [() => "secret"] })],
    ["a symbol", (): unknown => Symbol("secret")],
    ["a map", (): unknown => new Map([["secret", 1]])],
  ])("call() answers UNSERIALISABLE when a handler without a schema returns %s", async (_what, make) => {
    const { outcome, faults } = await callOnce(bespoke({ handler: make }));
    expect(outcome).toMatchObject({ code: "UNSERIALISABLE", correlationId: faults[0]?.correlationId });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it("call() answers an empty object when a handler returns nothing", async () => {
    expect((await callOnce(bespoke({ handler: () => undefined }))).outcome).toEqual({ kind: "answer", text: "{}" });
    expect((await callOnce(bespoke({ handler: () => null }))).outcome).toEqual({
      kind: "answer",
      text: '{"value":null}',
    });
  });

  it("call() answers alike when a handler throws and when it rejects", async () => {
    const refusal = new Refusal("BUSY", "a run is in progress", { run: 7 });
    const thrown = await callOnce(
      bespoke({
        handler: () => {
          throw refusal;
        },
      }),
    );
    const rejected = await callOnce(bespoke({ handler: () => Promise.reject(refusal) }));
    expect(thrown.outcome).toMatchObject({ code: "BUSY", message: "a run is in progress", details: { run: 7 } });
    expect(rejected.outcome).toEqual(thrown.outcome);
    expect([...thrown.faults, ...rejected.faults]).toEqual([]);
  });

  it("call() masks a validation that failed inside the handler: it is not about the caller's arguments", async () => {
    const inner = new SurfaceError("VALIDATION_ERROR", 'Using procedure "hidden": the input does not fit', {
      issues: [{ path: "secret", message: "secret" }],
    });
    const { outcome, faults } = await callOnce(bespoke({ handler: () => Promise.reject(inner) }));
    expect(outcome).toMatchObject({ code: "INTERNAL", issues: [] });
    expect(JSON.stringify(outcome)).not.toMatch(/secret|hidden/);
    expect(faults).toMatchObject([{ cause: inner, where: 'tool "probe"' }]);
  });

  it("call() masks an exception of the schema itself", async () => {
    const broken: Schema = z.object({}).refine(() => {
      throw new SurfaceError("INTERNAL", "secret");
    });
    const handler = vi.fn<() => void>();
    const { outcome } = await callOnce(bespoke({ input: broken, handler }));
    expect(outcome).toMatchObject({ code: "INTERNAL", issues: [] });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(handler).not.toHaveBeenCalled();
  });

  it("call() answers also when the owner's log throws", async () => {
    const invoker = createInvoker({
      report: () => {
        throw new SurfaceError("INTERNAL", "secret");
      },
    });
    const outcome = await invoker.call(bespoke({ handler: () => 10n }), {}, new CallContext());
    expect(outcome).toMatchObject({ code: "UNSERIALISABLE" });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });
});

describe("Invoker.call() with a tool of a live surface", () => {
  it("call() names the issues of the surface by their path on the wire", async () => {
    const fault = new SurfaceError("VALIDATION_ERROR", "no", { issues: [{ path: "", message: "expected a number" }] });
    const input = { json: {}, decode: (args: unknown) => args, root: "value" };
    const { outcome } = await callOnce(surfaceOwned(() => Promise.reject(fault), { input }));
    expect(outcome).toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "value", message: "expected a number" }],
    });
  });

  it("call() keeps the path of an issue from decoding", async () => {
    const fault = new SurfaceError("VALIDATION_ERROR", "no", { issues: [{ path: "timeout_ms", message: "too long" }] });
    const decode = (): never => {
      throw fault;
    };
    const run = vi.fn<() => void>();
    const { outcome } = await callOnce(surfaceOwned(run, { input: { json: {}, decode, root: "value" } }));
    expect(outcome).toMatchObject({ issues: [{ path: "timeout_ms", message: "too long" }] });
    expect(run).not.toHaveBeenCalled();
  });

  it("call() lists at most five issues, each bounded", async () => {
    const issues = Array.from({ length: 50 }, () => ({ path: "p".repeat(500), message: `m\u001b${"m".repeat(5000)}` }));
    const fault = new SurfaceError("VALIDATION_ERROR", "no", { issues });
    const { outcome } = await callOnce(surfaceOwned(() => Promise.reject(fault)));
    expect(outcome).toMatchObject({ issues: { length: 5 } });
    expect(JSON.stringify(outcome).length).toBeLessThan(2300);
    expect(JSON.stringify(outcome)).not.toContain("\\u001b");
  });

  it("call() keeps the id of a fault that the surface has logged, and logs it once", async () => {
    const masked = internalError("secret", "there", () => {});
    const { outcome, faults } = await callOnce(surfaceOwned(() => Promise.reject(masked)));
    expect(outcome).toMatchObject({ code: "INTERNAL", correlationId: masked.correlationId });
    expect(faults).toEqual([]);
  });
});

describe("Invoker.call() and time", () => {
  it("call() says that the outcome is unknown when the deadline of a mutating tool passes", async () => {
    const { outcome } = await callOnce(bespoke({ timeoutMs: shortMs, handler: never }));
    expect(outcome).toMatchObject({ code: "TIMEOUT", message: expect.stringMatching(/unknown/) });
  });

  it("call() says only that the deadline passed when the tool does not mutate", async () => {
    const { outcome } = await callOnce(bespoke({ timeoutMs: shortMs, mutates: false, handler: never }));
    expect(outcome).toMatchObject({ code: "TIMEOUT", message: "the deadline passed" });
  });

  it("call() fires the handler's signal when the deadline passes", async () => {
    let reason: unknown;
    const handler = (_args: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
      signal.addEventListener("abort", () => (reason = signal.reason));
      return never();
    };
    await callOnce(bespoke({ timeoutMs: shortMs, handler }));
    expect(reason).toMatchObject({ code: "TIMEOUT" });
  });

  it("call() ends when a handler returns a thenable that never settles", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a thenable that is no promise is what it is about
    const { outcome } = await callOnce(bespoke({ timeoutMs: shortMs, handler: () => ({ then: () => {} }) }));
    expect(outcome).toMatchObject({ code: "TIMEOUT" });
  });

  it("call() awaits a thenable that is no promise", async () => {
    const work = Promise.resolve({ n: 1 });
    // oxlint-disable-next-line unicorn/no-thenable -- as above
    const { outcome } = await callOnce(bespoke({ handler: () => ({ then: work.then.bind(work) }) }));
    expect(outcome).toEqual({ kind: "answer", text: '{"n":1}' });
  });

  it("call() ends when the check of the arguments hangs, and never runs the handler", async () => {
    const handler = vi.fn<() => void>();
    const { outcome } = await callOnce(bespoke({ timeoutMs: shortMs, input: z.string().refine(never), handler }), {
      value: "x",
    });
    // Nothing was done, so nothing is unknown.
    expect(outcome).toMatchObject({ code: "TIMEOUT", message: "the deadline passed" });
    expect(handler).not.toHaveBeenCalled();
  });

  it("call() ends when the check of the answer hangs", async () => {
    const { outcome } = await callOnce(
      bespoke({ timeoutMs: shortMs, output: z.string().refine(never), handler: () => "x" }),
    );
    expect(outcome).toMatchObject({ code: "TIMEOUT", message: expect.stringMatching(/unknown/) });
  });

  it("call() does not run the handler when it was cancelled while the arguments were checked", async () => {
    const call = new CallContext();
    const handler = vi.fn<() => void>();
    const input = z.string().refine(async () => {
      call.cancel();
      return true;
    });
    const { outcome } = await callOnce(bespoke({ input, handler }), { value: "x" }, call);
    expect(outcome).toMatchObject({ code: "ABORTED", message: "the call was cancelled" });
    expect(handler).not.toHaveBeenCalled();
  });

  it("call() does not run the handler when it was cancelled before it began", async () => {
    const call = new CallContext();
    call.cancel();
    const handler = vi.fn<() => void>();
    const run = vi.fn<() => void>();
    expect((await callOnce(bespoke({ handler }), {}, call)).outcome).toMatchObject({ code: "ABORTED" });
    const again = new CallContext();
    again.cancel();
    expect((await callOnce(surfaceOwned(run), {}, again)).outcome).toMatchObject({ code: "ABORTED" });
    expect([handler, run].map((each) => each.mock.calls.length)).toEqual([0, 0]);
  });

  it("call() answers ABORTED when it is cancelled while the handler runs", async () => {
    const call = new CallContext();
    const handler = (): Promise<never> => {
      queueMicrotask(() => call.cancel());
      return never();
    };
    expect((await callOnce(bespoke({ handler }), {}, call)).outcome).toMatchObject({ code: "ABORTED" });
  });

  it("call() passes on progress while it runs and not afterwards", async () => {
    const reports: number[] = [];
    let keep: (report: { progress: number }) => void = () => {};
    const handler = (_args: unknown, context: { progress: typeof keep }): string => {
      keep = context.progress;
      keep({ progress: 1 });
      return "done";
    };
    await callOnce(bespoke({ handler }), {}, new CallContext({ sink: ({ progress }) => reports.push(progress) }));
    keep({ progress: 2 });
    expect(reports).toEqual([1]);
  });

  it("call() clears its timer", async () => {
    const before = process.getActiveResourcesInfo().length;
    const { invoker } = loggingInvoker();
    await Promise.all(
      Array.from({ length: 20 }, async () => invoker.call(bespoke({ handler: () => 1 }), {}, new CallContext())),
    );
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
    invoker.close();
  });
});

describe("Invoker.read()", () => {
  const read = async (answer: () => Promise<string | undefined>, call = new CallContext()): Promise<unknown> => {
    const { invoker, faults } = loggingInvoker();
    const outcome = await invoker.read({ id: "nodes", scopes: [], read: answer }, call);
    invoker.close();
    return { outcome, faults };
  };

  it('read() returns the text of a value, and "absent" without one', async () => {
    expect(await read(async () => "[1]")).toMatchObject({ outcome: { kind: "content", content: "[1]" } });
    expect(await read(async () => undefined)).toEqual({ outcome: { kind: "absent" }, faults: [] });
  });

  it.each(["ABSENT", "VALIDATION_ERROR"] as const)("read() says absent when the surface answers %s", async (code) => {
    const answer = (): Promise<never> => Promise.reject(new SurfaceError(code, "secret"));
    expect(await read(answer)).toEqual({ outcome: { kind: "absent" }, faults: [] });
  });

  it("read() masks the error of a source, synchronous or not", async () => {
    const cause = new SurfaceError("UNKNOWN_MEMBER", "secret");
    const throwing = (): Promise<never> => {
      throw cause;
    };
    for (const answer of [throwing, () => Promise.reject(cause)]) {
      const seen = await read(answer);
      expect(seen).toMatchObject({ outcome: { code: "INTERNAL" }, faults: [{ where: 'resource "nodes"', cause }] });
      expect(JSON.stringify((seen as { outcome: unknown }).outcome)).not.toContain("secret");
    }
  });

  it("read() passes on the author's own refusal", async () => {
    const answer = (): Promise<never> => Promise.reject(new Refusal("LOCKED", "not now"));
    expect(await read(answer)).toMatchObject({ outcome: { code: "LOCKED", message: "not now" }, faults: [] });
  });

  it("read() does not begin when it was cancelled, and ends when it is cancelled", async () => {
    const answer = vi.fn<() => Promise<never>>(never);
    const cancelled = new CallContext();
    cancelled.cancel();
    expect(await read(answer, cancelled)).toMatchObject({ outcome: { code: "ABORTED" } });
    expect(answer).not.toHaveBeenCalled();
    const call = new CallContext();
    const running = read(answer, call);
    call.cancel();
    expect(await running).toMatchObject({ outcome: { code: "ABORTED" } });
  });

  it("read() answers TIMEOUT after ten seconds", async () => {
    vi.useFakeTimers();
    try {
      const running = read(never);
      await vi.advanceTimersByTimeAsync(9999);
      const early = await Promise.race([running, Promise.resolve("running")]);
      expect(early).toBe("running");
      await vi.advanceTimersByTimeAsync(1);
      expect(await running).toMatchObject({ outcome: { code: "TIMEOUT", message: "the deadline passed" } });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the report of a fault", () => {
  it("call() says under which id a fault was logged", async () => {
    const { outcome, faults } = await callOnce(bespoke({ handler: () => Promise.reject(new TypeError("secret")) }));
    expect(outcome).toMatchObject({ message: expect.stringMatching(uuid), correlationId: faults[0]?.correlationId });
  });
});

function cyclic(): unknown {
  const self: Record<string, unknown> = { secret: true };
  self["self"] = self;
  return self;
}
