import { describe, expect, it, vi } from "vitest";
import type { AskPort } from "../../src/call/ask-port.ts";
import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import type { AnyBespokeTool } from "../../src/catalog/bespoke-tool.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { accepting, everyKind, pushing } from "./asking-support.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

const form = { type: "object", properties: {} };

/** Calls a tool as a development server does. */
async function rehearsed(tools: Readonly<Record<string, AnyBespokeTool>>, asking?: AskPort) {
  const faults: Fault[] = [];
  const made = toolsOf(tools);
  const invoker = createInvoker({
    report: (fault) => void faults.push(fault),
    find: (id) => (Object.hasOwn(tools, id) ? made.entry(id) : undefined),
    rehearse: true,
  });
  const outcome: ToolOutcome = await invoker.call(made.entry("host"), {}, new CallContext({ caller: ada, asking }));
  invoker.close();
  return { outcome, faults, log: faults.map(({ cause }) => String(cause)).join() };
}

const ports: readonly (readonly [string, AskPort])[] = [
  ["pushed", pushing(accepting())],
  ["replayed", { kinds: everyKind }],
];

describe.each(ports)("a handler that is rehearsed, %s", (era, port) => {
  it("runs twice up to its first question, and what it calls once", async () => {
    const effect = vi.fn<() => string>(() => "x");
    const handler = vi.fn<AnyBespokeTool["handler"]>(async (_args, { ask, call }) => {
      await call("effect");
      await ask.elicit("ok", form, "Ok?");
      return call("effect");
    });
    const { outcome, faults } = await rehearsed(
      { effect: { handler: effect }, host: { reach: ["effect"], handler } },
      port,
    );
    expect(outcome.kind).toBe(era === "pushed" ? "answer" : "asking");
    expect(handler).toHaveBeenCalledTimes(2);
    expect(effect).toHaveBeenCalledTimes(era === "pushed" ? 2 : 1);
    expect(faults).toEqual([]);
  });

  it("runs once when it asks nothing", async () => {
    const handler = vi.fn<AnyBespokeTool["handler"]>(() => "done");
    const { outcome } = await rehearsed({ host: { handler } }, port);
    expect(shortOf(outcome)).toEqual({ value: "done" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("is refused as it refuses when it asks nothing", async () => {
    const handler = (): never => {
      throw new TypeError("secret");
    };
    const { outcome, faults } = await rehearsed({ host: { handler } }, port);
    expect(shortOf(outcome)).toBe("INTERNAL");
    expect(faults).toHaveLength(1);
  });

  it.each<[string, (times: number) => AnyBespokeTool["handler"], string]>([
    [
      "asks under another key",
      (times) =>
        (_args, { ask }) =>
          ask.elicit(`k${times}`, form, "Ok?"),
      'asks "k2", which it did not ask the first time',
    ],
    [
      "asks something else",
      (times) =>
        (_args, { ask }) =>
          ask.elicit("ok", form, `Ok ${times}?`),
      'asks something else under "ok"',
    ],
    [
      "asks nothing",
      (times) =>
        (_args, { ask }) =>
          times === 1 ? ask.elicit("ok", form, "Ok?") : "done",
      'does not ask "ok", which it asked the first time',
    ],
    [
      "calls something else",
      (times) =>
        async (_args, { ask, call }) => {
          await call("effect", { times });
          return ask.elicit("ok", form, "Ok?");
        },
      'calls "effect" with arguments that it did not call it with the first time',
    ],
  ])(
    "answers INTERNAL, and its author is told how it differs, when it %s the second time",
    async (_name, make, said) => {
      let times = 0;
      const effect = vi.fn<() => string>(() => "x");
      const host: AnyBespokeTool = {
        reach: ["effect"],
        handler: (args, context) => make((times += 1))(args, context),
      };
      const { outcome, log, faults } = await rehearsed({ effect: { handler: effect, input: undefined }, host }, port);
      expect(outcome).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
      expect(faults).toHaveLength(1);
      expect(log).toContain(said);
      expect(effect.mock.calls.length).toBeLessThanOrEqual(1);
    },
  );

  it("ends when it is cancelled, whichever of the two runs", async () => {
    const made = toolsOf({ host: { handler: () => new Promise(() => {}) } });
    const invoker = createInvoker({ report: () => {}, rehearse: true });
    const call = new CallContext({ caller: ada, asking: port });
    const outcome = invoker.call(made.entry("host"), {}, call);
    await new Promise((resolve) => setImmediate(resolve));
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
    invoker.close();
  });
});
