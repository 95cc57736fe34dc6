import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker, type PromptOutcome } from "../../../src/call/create-invoker.ts";
import type { AnyBespokePrompt } from "../../../src/catalog/custom/bespoke-prompt.ts";
import { imageBlock } from "../../../src/catalog/content/content.ts";
import type { EntryCall, LogEntry, PromptEntry } from "../../../src/catalog/entry.ts";
import { Refusal, SurfaceError } from "../../../src/errors.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { catalogOf, thrownBy } from "../support.ts";

function entryOf(prompt: AnyBespokePrompt): PromptEntry {
  const entry = catalogOf({}, { prompts: { "a.probe": prompt } }).prompt("a_probe");
  if (entry === undefined) throw new Error("there is no prompt");
  return entry;
}

interface Rendered {
  readonly outcome: PromptOutcome;
  readonly faults: readonly Fault[];
}

async function render(prompt: AnyBespokePrompt, args: JsonObject = {}, call = new CallContext()): Promise<Rendered> {
  const faults: Fault[] = [];
  const invoker = createInvoker({ report: (fault) => faults.push(fault) });
  const outcome = await invoker.prompt(entryOf(prompt), args, call);
  invoker.close();
  return { outcome, faults };
}

const messages = (outcome: PromptOutcome): unknown =>
  outcome.kind === "messages" ? JSON.parse(outcome.text) : outcome;

const input = z.object({
  node: z.string().meta({ title: "Node", description: "Which" }),
  depth: z.int().optional(),
  loud: z.boolean().optional(),
  mode: z.enum(["fast", "slow"]).default("fast"),
});
const echo: AnyBespokePrompt = { input, handler: (given) => JSON.stringify(given) };
const given = async (args: JsonObject): Promise<unknown> => {
  const [first] = messages((await render(echo, args)).outcome) as readonly { content: { text: string } }[];
  return JSON.parse(first?.content.text ?? "null");
};

describe("prompts", () => {
  it("an entry lists its arguments in declared order, with their words", () => {
    const entry = entryOf({
      title: "T",
      description: "D",
      icons: [{ src: "https://a.test/i" }],
      meta: { a: 1 },
      ...echo,
    });
    expect(entry).toMatchObject({ id: "a.probe", name: "a_probe", title: "T", description: "D", meta: { a: 1 } });
    expect(entry.arguments.map(({ complete: _complete, ...words }) => words)).toEqual([
      { name: "node", required: true, title: "Node", description: "Which" },
      { name: "depth", required: false },
      { name: "loud", required: false },
      { name: "mode", required: false },
    ]);
  });

  it("fields of an enum or of true and false complete by themselves, others by their author's function", async () => {
    const entry = entryOf({ ...echo, complete: { node: (begun) => [`${begun}!`], mode: () => ["own"] } });
    const proposed = entry.arguments.map(async ({ complete }) => complete?.("a", new CallContext(), {}));
    expect(await Promise.all(proposed)).toEqual([["a!"], undefined, ["true", "false"], ["own"]]);
  });

  it("arguments are texts that are read as their schema asks, and an empty one of an optional field is none", async () => {
    expect(await given({ node: "7", depth: "3", loud: "true", mode: "slow" })).toEqual({
      node: "7",
      depth: 3,
      loud: true,
      mode: "slow",
    });
    expect(await given({ node: "", depth: "", mode: "" })).toEqual({ node: "", mode: "fast" });
    expect(await given({ node: "a", extra: "b", constructor: "c" })).toEqual({ node: "a", mode: "fast" });
  });

  it.each<[string, JsonObject, string]>([
    ["is missing", {}, "node"],
    ["is no text", { node: 7 }, "node"],
    ["does not fit", { node: "a", depth: "deep" }, "depth"],
    ["is none of an enum", { node: "a", mode: "medium" }, "mode"],
  ])("an argument that %s is named in the refusal, and is nobody's fault", async (_what, args, path) => {
    const { outcome, faults } = await render(echo, args);
    expect(outcome).toMatchObject({ kind: "refused", code: "VALIDATION_ERROR", issues: [{ path }] });
    expect(faults).toEqual([]);
  });

  it("a handler answers with a text, or with messages of texts and blocks", async () => {
    expect(messages((await render({ handler: () => "hi" })).outcome)).toEqual([
      { role: "user", content: { type: "text", text: "hi" } },
    ]);
    const image = imageBlock({ data: "AA==", mimeType: "image/png" });
    const handler = async (): Promise<unknown> => [
      { role: "assistant", content: image },
      { role: "user", content: "b" },
    ];
    expect(messages((await render({ handler })).outcome)).toEqual([
      { role: "assistant", content: { type: "image", data: "AA==", mimeType: "image/png" } },
      { role: "user", content: { type: "text", text: "b" } },
    ]);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number", 1],
    ["one message without a list", { role: "user", content: "secret" }],
    ["another role", [{ role: "system", content: "secret" }]],
    ["JSON that looks like a block", [{ role: "user", content: { type: "text", text: "secret" } }]],
    ["a hole", [null]],
  ])("an answer of %s is withheld and reported", async (_what, answer) => {
    const { outcome, faults } = await render({ handler: () => answer });
    expect(outcome).toMatchObject({ kind: "refused", code: "INVALID_OUTPUT" });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ["its own refusal", new Refusal("NOT_NOW", "come back"), "NOT_NOW"],
    ["an error of the author's", new TypeError("secret"), "INTERNAL"],
    [
      "what it was told of arguments of its own",
      new SurfaceError("VALIDATION_ERROR", "secret", { issues: [{ path: "secret", message: "secret" }] }),
      "INTERNAL",
    ],
  ])("a handler that throws %s is mapped as a tool's is", async (_what, cause, code) => {
    const handler = (): never => {
      throw cause;
    };
    const { outcome } = await render({ handler });
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });

  it("a handler tells progress and the log, also when it takes both out of its context", async () => {
    const told: unknown[] = [];
    const logged: LogEntry[] = [];
    const call = new CallContext({ sink: (report) => told.push(report), log: (entry) => logged.push(entry) });
    const handler: AnyBespokePrompt["handler"] = (_args, { progress, log }) => {
      progress({ progress: 1 });
      log("info", { a: 1 }, "probe");
      return "a";
    };
    await render({ handler }, {}, call);
    expect(told).toEqual([{ progress: 1 }]);
    expect(logged).toEqual([{ level: "info", data: { a: 1 }, logger: "probe" }]);
  });

  it("a prompt that is cancelled answers at once, whatever its handler does", async () => {
    const call = new CallContext();
    const rendered = render({ handler: () => new Promise(() => {}) }, {}, call);
    call.cancel();
    expect((await rendered).outcome).toMatchObject({ code: "ABORTED" });
  });

  it.each<[string, AnyBespokePrompt, string]>([
    ["a scalar", { input: z.string(), handler: () => "" }, "INVALID_MEMBER"],
    ["an object within", { input: z.object({ a: z.object({}) }), handler: () => "" }, "INVALID_MEMBER"],
    ["no handler", {} as never, "MISSING_HANDLER"],
    ["an unknown word", { nope: 1, handler: () => "" } as never, "INVALID_OPTION"],
    ["a completer of no field", { complete: { a: () => [] }, handler: () => "" }, "INVALID_OPTION"],
    ["a completer that is none", { input, complete: { node: 1 as never }, handler: () => "" }, "INVALID_OPTION"],
    ["an icon over http", { icons: [{ src: "http://a.test" }], handler: () => "" }, "INVALID_OPTION"],
  ])("a prompt with %s is refused when the catalog is made", (_what, prompt, code) => {
    expect(thrownBy(() => entryOf(prompt))).toMatchObject({ code });
  });

  it("two prompts of one name on the wire are refused, naming both", () => {
    const prompts = { "a.b": echo, a_b: echo };
    expect(thrownBy(() => catalogOf({}, { prompts }))).toMatchObject({
      code: "NAME_COLLISION",
      message: 'Cannot name prompt "a_b": its wire name "a_b" is taken by prompt "a.b"; rename one of them',
    });
  });
});

describe("Invoker.complete()", () => {
  it("complete() hands on what a completer proposes, and masks what it throws", async () => {
    const faults: Fault[] = [];
    const invoker = createInvoker({ report: (fault) => faults.push(fault) });
    const ask = (complete: () => Promise<readonly string[]>): Promise<unknown> =>
      invoker.complete({ where: "a probe", scopes: [], complete, begun: "a", filled: {} }, new CallContext());
    expect(await ask(async () => ["ab"])).toEqual({ kind: "values", values: ["ab"] });
    expect(await ask(async () => Promise.reject(new TypeError("secret")))).toMatchObject({ code: "INTERNAL" });
    expect(faults).toHaveLength(1);
    invoker.close();
  });

  it("complete() tells of one that does not answer in time once, until it answers again, and ends its signal", async () => {
    vi.useFakeTimers();
    const faults: Fault[] = [];
    const signals: AbortSignal[] = [];
    const invoker = createInvoker({ report: (fault) => faults.push(fault) });
    let hangs = true;
    const complete = async (_begun: string, { signal }: EntryCall): Promise<readonly string[]> => {
      signals.push(signal);
      return hangs ? new Promise(() => {}) : ["a"];
    };
    const ask = async (): Promise<unknown> => {
      const answer = invoker.complete(
        { where: "a probe", scopes: [], complete, begun: "a", filled: {} },
        new CallContext(),
      );
      await vi.advanceTimersByTimeAsync(5010);
      return answer;
    };
    try {
      expect(await ask()).toMatchObject({ kind: "refused", code: "TIMEOUT" });
      expect(await ask()).toMatchObject({ code: "TIMEOUT" });
      expect(faults).toMatchObject([{ where: "a probe", cause: { code: "TIMEOUT" } }]);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
      hangs = false;
      expect(await ask()).toEqual({ kind: "values", values: ["a"] });
      hangs = true;
      await ask();
      expect(faults).toHaveLength(2);
    } finally {
      vi.useRealTimers();
      invoker.close();
    }
  });
});
