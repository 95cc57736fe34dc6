import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../src/call/call-context.ts";
import type { ClientPort } from "../../src/call/asker.ts";
import type { Asks, InputRequest } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { accepting, callInRounds, everyKind, messageOf, pushing, type Reply } from "./asking-support.ts";
import { ada, openTools, shortOf, type Tools } from "./nesting-support.ts";

const Name = z.object({ name: z.string() });
const anything: JsonObject = { type: "object", properties: { name: { type: "string" } } };

const greet: AnyBespokeTool = {
  handler: async (_args, { ask }) => {
    const answer = await ask.elicit("who", Name, "Who is it?");
    return answer.action === "accept" ? `Hello ${answer.content.name}` : answer.action;
  },
};

/** Every way in which one tool can be called: while it waits, and by retries. */
const eras = {
  pushed: async (tools: Tools, id: string, reply: Reply) => tools.call(id, {}, { asking: pushing(reply) }),
  replayed: async (tools: Tools, id: string, reply: Reply) => (await callInRounds(tools, [id], { reply })).outcome,
};

function asking(handler: (ask: Asks) => unknown): AnyBespokeTool {
  return { handler: (_args, { ask }) => handler(ask) };
}

describe.each(Object.entries(eras))("a question, %s", (_era, run) => {
  it("gives its handler the content when the user accepts", async () => {
    const outcome = await run(openTools({ greet }), "greet", accepting({ name: "Ada" }));
    expect(shortOf(outcome)).toEqual({ value: "Hello Ada" });
  });

  it.each(["decline", "cancel"])("gives its handler the action when the user answers %s", async (action) => {
    expect(shortOf(await run(openTools({ greet }), "greet", () => ({ action })))).toEqual({ value: action });
  });

  it.each<[string, JsonObject]>([
    ["what does not fit", { action: "accept", content: { name: 7 } }],
    ["nothing", { action: "accept" }],
    ["no content", { action: "accept", content: null }],
    ["a list", { action: "accept", content: ["x"] }],
    ["no action", {}],
    ["another action", { action: "yes", content: { name: "Ada" } }],
  ])("is refused with ASK_FAILED when a form is filled in with %s", async (_name, answer) => {
    const outcome = await run(openTools({ greet }), "greet", () => answer);
    expect(shortOf(outcome)).toBe("ASK_FAILED");
    expect(JSON.stringify(outcome)).not.toContain("yes");
  });

  it("is answered with the names of invalid fields, and none of their values", async () => {
    const outcome = await run(openTools({ greet }), "greet", () => ({ action: "accept", content: { name: 4711 } }));
    expect(JSON.stringify(outcome)).toContain('\\"name\\"');
    expect(JSON.stringify(outcome)).not.toContain("4711");
  });

  it("takes an accept without content when no field is required", async () => {
    const tools = openTools({
      ok: asking(async (ask) => await ask.elicit("ok", { type: "object", properties: {} }, "Ok?")),
    });
    expect(shortOf(await run(tools, "ok", () => ({ action: "accept" })))).toEqual({ action: "accept", content: {} });
  });

  it("gives its handler the model's message, with its text", async () => {
    const tools = openTools({
      ask: asking((ask) => ask.sample("haiku", { messages: [{ role: "user", content: "A haiku" }], maxTokens: 9 })),
    });
    const asked: InputRequest[] = [];
    const reply: Reply = (ask) => {
      asked.push(ask);
      return { role: "assistant", content: { type: "text", text: "Old pond" }, model: "m", stopReason: "endTurn" };
    };
    expect(shortOf(await run(tools, "ask", reply))).toEqual({
      role: "assistant",
      text: "Old pond",
      content: [{ type: "text", text: "Old pond" }],
      model: "m",
      stopReason: "endTurn",
    });
    expect(asked).toEqual([
      {
        kind: "sample",
        params: { messages: [{ role: "user", content: { type: "text", text: "A haiku" } }], maxTokens: 9 },
        timeoutMs: 60_000,
      },
    ]);
  });

  it("gives its handler where the user works", async () => {
    const tools = openTools({ ask: asking((ask) => ask.roots()) });
    const roots = [{ uri: "file:///a", name: "a" }, { uri: "file:///b" }];
    expect(shortOf(await run(tools, "ask", () => ({ roots, more: 1 })))).toEqual({ value: roots });
  });

  it.each<[string, (ask: Asks) => unknown, JsonObject]>([
    ["roots that are no list", (ask) => ask.roots(), { roots: {} }],
    ["roots without URIs", (ask) => ask.roots(), { roots: [{ name: "x" }] }],
    ["a sample without a model", sampling, { role: "assistant", content: { type: "text", text: "x" } }],
    ["a sample of nobody", sampling, { role: "system", content: { type: "text", text: "x" }, model: "m" }],
    ["a sample of no blocks", sampling, { role: "assistant", content: ["x"], model: "m" }],
  ])("is refused with ASK_FAILED when the answer is %s", async (_name, ask, answer) => {
    expect(shortOf(await run(openTools({ ask: asking(ask) }), "ask", () => answer))).toBe("ASK_FAILED");
  });

  it("is asked once when the same question has the same key twice", async () => {
    const reply = vi.fn<Reply>(accepting({ name: "Ada" }));
    const tools = openTools({
      twice: asking(async (ask) => {
        const one = await ask.elicit("who", Name, "Who?");
        return [one, await ask.elicit("who", Name, "Who?")];
      }),
    });
    expect(shortOf(await run(tools, "twice", reply))).toMatchObject({
      value: [{ action: "accept" }, { action: "accept" }],
    });
    expect(reply).toHaveBeenCalledTimes(1);
  });

  it("is a fault of its author when another question has the same key", async () => {
    const tools = openTools({
      twice: asking((ask) => Promise.all([ask.elicit("who", Name, "Who?"), ask.elicit("who", Name, "Whom?")])),
    });
    expect(shortOf(await run(tools, "twice", accepting({ name: "Ada" })))).toBe("INTERNAL");
    expect(String(tools.faults[0]?.cause)).toContain(
      'Cannot ask "who": this call asked another question under the key',
    );
  });

  it.each<[string, (ask: Asks) => unknown, string]>([
    ["a key with a dot", (ask) => ask.elicit(".confirm", Name, "Who?"), "INVALID_OPTION"],
    ["an empty key", (ask) => ask.elicit("", Name, "Who?"), "INVALID_OPTION"],
    ["a key that is too long", (ask) => ask.elicit("x".repeat(65), Name, "Who?"), "INVALID_OPTION"],
    ["no message", (ask) => ask.elicit("who", Name, ""), "INVALID_OPTION"],
    ["a nested form", (ask) => ask.elicit("who", z.object({ at: z.object({}) }), "Who?"), "SCHEMA_UNSUPPORTED"],
    [
      "no tokens",
      (ask) => ask.sample("x", { messages: [{ role: "user", content: "x" }], maxTokens: 0 }),
      "INVALID_OPTION",
    ],
    ["no messages", (ask) => ask.sample("x", { messages: [], maxTokens: 1 }), "INVALID_OPTION"],
  ])("is a fault of its author when it has %s", async (_name, ask, code) => {
    const reply = vi.fn<Reply>(accepting());
    const tools = openTools({ ask: asking(ask) });
    expect(shortOf(await run(tools, "ask", reply))).toBe("INTERNAL");
    expect(tools.faults[0]?.cause).toMatchObject({ code });
    expect(reply).not.toHaveBeenCalled();
  });

  it("is answered separately when nested calls use the key of the call above", async () => {
    const tools = openTools({
      greet: { ...greet, mutates: false },
      host: {
        canCall: ["greet"],
        handler: async (_args, { ask, call }) => {
          const host = await ask.elicit("who", Name, "Who are you?");
          return [host, await call("greet"), await call("greet")];
        },
      },
    });
    let count = 0;
    const outcome = await run(tools, "host", () => ({ action: "accept", content: { name: `n${(count += 1)}` } }));
    expect(shortOf(outcome)).toEqual({
      value: [{ action: "accept", content: { name: "n1" } }, { value: "Hello n2" }, { value: "Hello n3" }],
    });
  });

  it("survives keys that objects have by themselves", async () => {
    const tools = openTools({
      odd: asking((ask) =>
        Promise.all(["__proto__", "constructor", "toString"].map((key) => ask.elicit(key, anything, key))),
      ),
    });
    const outcome = await run(tools, "odd", (ask) => ({
      action: "accept",
      content: { name: messageOf(ask) },
    }));
    expect(shortOf(outcome)).toMatchObject({
      value: ["__proto__", "constructor", "toString"].map((name) => ({ content: { name: JSON.stringify(name) } })),
    });
  });
});

function sampling(ask: Asks): Promise<unknown> {
  return ask.sample("s", { messages: [{ role: "user", content: "x" }], maxTokens: 1 });
}

describe("a client without elicitation", () => {
  const ports: readonly [string, ClientPort | undefined][] = [
    ["nobody", undefined],
    ["a session without capabilities", { kinds: new Set(), push: () => Promise.reject(new Error("sent")) }],
    ["a session of another kind", { kinds: new Set(["roots"]), push: () => Promise.reject(new Error("sent")) }],
    ["a request without capabilities", { kinds: new Set() }],
  ];

  it.each(ports)("makes ask() reject with CLIENT_CANNOT, before anything is sent, for %s", async (_name, port) => {
    const outcome = await openTools({ greet }).call("greet", {}, { asking: port });
    expect(outcome).toMatchObject({
      kind: "refused",
      code: "CLIENT_CANNOT",
      message: "the client of this call does not support elicitation by form",
      details: { requiredCapabilities: { elicitation: { form: {} } } },
      requiredCapabilities: { elicitation: { form: {} } },
    });
  });

  it("receives the missing capability also from a nested call", async () => {
    const tools = openTools({ s: asking(sampling), host: { canCall: ["s"], handler: (_args, { call }) => call("s") } });
    const outcome = await tools.call("host", {}, { asking: { kinds: new Set() } });
    const message = expect.stringMatching(/does not support sampling$/);
    expect(outcome).toMatchObject({ code: "CLIENT_CANNOT", message, requiredCapabilities: { sampling: {} } });
  });

  it("gets the result of a handler that catches the error", async () => {
    const tools = openTools({ s: asking((ask) => sampling(ask).catch((cause: { code: string }) => cause.code)) });
    expect(shortOf(await tools.call("s", {}, { asking: { kinds: new Set() } }))).toEqual({ value: "CLIENT_CANNOT" });
  });

  it("is nothing that an author's refusal of the same code says", async () => {
    const { Refusal } = await import("../../src/errors.ts");
    const handler = (): never => {
      throw new Refusal("CLIENT_CANNOT", "mine", { requiredCapabilities: { sampling: {} } });
    };
    const outcome = await openTools({ mine: { handler } }).call("mine");
    expect(outcome).toMatchObject({ code: "CLIENT_CANNOT", message: "mine" });
    expect(outcome).not.toHaveProperty("requiredCapabilities");
  });
});

describe("a call that ends with its question", () => {
  const modern = (resumed?: ClientPort["resumed"]): ClientPort => ({ kinds: everyKind, resumed });

  it("fires its signal and is recorded as ended with INPUT_REQUIRED", async () => {
    let reason: unknown;
    const tools = openTools({
      greet: {
        handler: async (_args, { ask, signal }) => {
          signal.addEventListener("abort", () => (reason = signal.reason));
          await ask.elicit("who", Name, "Who?");
        },
      },
    });
    const { call, outcome } = tools.start("greet", { asking: modern() });
    expect((await outcome).kind).toBe("asking");
    expect(reason).toMatchObject({ code: "INPUT_REQUIRED" });
    expect(call.endedWith).toBe(reason);
    expect(tools.tree.roots()[0]).toMatchObject({ state: "aborted", code: "INPUT_REQUIRED" });
    expect(tools.faults).toEqual([]);
  });

  it("sends all questions of one turn at once", async () => {
    const both = asking((ask) =>
      Promise.all([ask.elicit("a", Name, "A?"), Promise.resolve().then(() => ask.elicit("b", Name, "B?"))]),
    );
    const { rounds } = await callInRounds(openTools({ both }), ["both"], { reply: accepting({ name: "x" }) });
    expect(rounds).toEqual([["a", "b"]]);
  });

  it("sends unanswered questions again, and keeps the answers", async () => {
    const both = asking((ask) => Promise.all([ask.elicit("a", Name, "A?"), ask.elicit("b", Name, "B?")]));
    const reply = vi.fn<Reply>(accepting({ name: "x" }));
    const { outcome, rounds } = await callInRounds(openTools({ both }), ["both"], {
      reply,
      choose: (keys) => keys.slice(0, 1),
    });
    expect(rounds).toEqual([["a", "b"], ["b"]]);
    expect(reply).toHaveBeenCalledTimes(2);
    expect(outcome.kind).toBe("answer");
  });

  it("asks again when another question has the same key next time", async () => {
    let times = 0;
    const fickle = asking((ask) => ask.elicit("who", Name, `Who? ${(times = Math.min(times + 1, 2))}`));
    const { rounds } = await callInRounds(openTools({ fickle }), ["fickle"], { reply: accepting({ name: "x" }) });
    expect(rounds).toEqual([["who"], ["who"]]);
  });

  it("ignores answers without a question", async () => {
    const tools = openTools({ greet });
    const answers = { who: { action: "accept", content: { name: "Eve" } } };
    const outcome = await tools.call("greet", {}, { asking: modern({ record: { salt: "", asked: {} }, answers }) });
    expect(outcome.kind).toBe("asking");
  });

  it("is refused with ASK_STATE_TOO_LARGE when its answers are more than can be kept", async () => {
    const tools = openTools({
      greet: asking(async (ask) => [await ask.elicit("a", Name, "A?"), await ask.elicit("b", Name, "B?")]),
    });
    const { outcome } = await callInRounds(tools, ["greet"], { reply: accepting({ name: "x".repeat(40_000) }) });
    expect(shortOf(outcome)).toBe("ASK_STATE_TOO_LARGE");
  });

  it("stays open when its handler catches the rejection, with one report", async () => {
    const tools = openTools({
      greet: asking((ask) => ask.elicit("who", Name, "Who?").catch(() => "went on")),
    });
    expect((await tools.call("greet", {}, { asking: modern() })).kind).toBe("asking");
    await expect.poll(() => tools.faults).toHaveLength(1);
    expect(tools.faults[0]?.cause).toMatchObject({ code: "INPUT_REQUIRED" });
    expect(tools.faults[0]?.where).toBe('tool "greet"');
  });

  it("answers when its handler did not wait for its question", async () => {
    const tools = openTools({ greet: asking((ask) => (void ask.elicit("who", Name, "Who?"), "done")) });
    expect(shortOf(await tools.call("greet", {}, { asking: modern() }))).toEqual({ value: "done" });
    expect(shortOf(await tools.call("greet", {}, { asking: pushing(() => new Promise(() => {})) }))).toEqual({
      value: "done",
    });
  });

  it("is refused as cancelled when it is cancelled in the turn of its question", async () => {
    const { call, outcome } = openTools({ greet }).start("greet", { asking: modern() });
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
  });

  it("does not ask under a call that is over", async () => {
    let late: Promise<unknown> | undefined;
    const tools = openTools({
      greet: {
        handler: (_args, { ask }) => {
          late = new Promise((resolve) => setImmediate(resolve)).then(() => ask.elicit("who", Name, "Who?"));
          late.catch(() => {});
          return "done";
        },
      },
    });
    const asked: InputRequest[] = [];
    await tools.call("greet", {}, { asking: pushing(accepting(), asked) });
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
    expect(asked).toEqual([]);
  });

  it("asks for prompts and reads as for tools", async () => {
    const { invoker } = openTools({});
    const run = async (call: { ask: CallContext["ask"] }): Promise<string> =>
      JSON.stringify(await call.ask("who", { kind: "elicit", params: { message: "Who?" } }));
    const resolved = { id: "r", scopes: ["probe:read"], read: run } as never;
    const first = await invoker.read(resolved, new CallContext({ caller: ada, asking: modern() }));
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    expect(Object.keys(first.open)).toEqual(["who"]);
    const resumed = { record: first.record, answers: { who: { action: "decline" } } };
    expect(await invoker.read(resolved, new CallContext({ caller: ada, asking: modern(resumed) }))).toEqual({
      kind: "content",
      content: '{"action":"decline"}',
    });
    const prompt = {
      origin: "prompt",
      scopes: ["probe:read"],
      check: () => ({}),
      render: (_: unknown, call: never) => run(call),
    };
    expect(await invoker.prompt(prompt as never, {}, new CallContext({ caller: ada, asking: modern() }))).toMatchObject(
      { kind: "asking" },
    );
    expect(
      await invoker.prompt(prompt as never, {}, new CallContext({ caller: ada, asking: modern(resumed) })),
    ).toEqual({
      kind: "messages",
      text: '{"action":"decline"}',
    });
  });
});

describe("a call that waits while its client is asked", () => {
  it("takes its question back when it is cancelled", async () => {
    let signal: AbortSignal | undefined;
    const port: ClientPort = {
      kinds: everyKind,
      push: (_ask, given) => {
        signal = given;
        return new Promise(() => {});
      },
    };
    const { call, outcome } = openTools({ greet }).start("greet", { asking: port });
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
    expect(signal?.aborted).toBe(true);
  });

  it("is refused as its session says when that ends", async () => {
    const port: ClientPort = { kinds: everyKind, push: () => Promise.reject(new SurfaceError("DISCONNECTED", "gone")) };
    expect(shortOf(await openTools({ greet }).call("greet", {}, { asking: port }))).toBe("DISCONNECTED");
  });

  it("is refused as any other fault when sending throws", async () => {
    const push = (): never => {
      throw new Error("secret");
    };
    const outcome = await openTools({ greet }).call("greet", {}, { asking: { kinds: everyKind, push } });
    expect(shortOf(outcome)).toBe("INTERNAL");
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });

  it("asks for the roots each time", async () => {
    let count = 0;
    const tools = openTools({ twice: asking(async (ask) => [await ask.roots(), await ask.roots()]) });
    const outcome = await tools.call(
      "twice",
      {},
      { asking: pushing(() => ({ roots: [{ uri: `file:///${(count += 1)}` }] })) },
    );
    expect(shortOf(outcome)).toEqual({ value: [[{ uri: "file:///1" }], [{ uri: "file:///2" }]] });
  });
});

describe("a call that is made again with answers", () => {
  it("is refused, with one report, when a question differs each time", async () => {
    let times = 0;
    const tools = openTools({
      fickle: asking((ask) => ask.elicit("who", anything, `Who, the ${(times += 1)}th time?`)),
    });
    const { outcome, rounds } = await callInRounds(tools, ["fickle"], { reply: accepting() });
    expect(rounds).toEqual([["who"], ["who"]]);
    expect(outcome).toMatchObject({
      code: "ASK_FAILED",
      message: 'the question "who" changed each time after it was answered',
    });
    expect(tools.faults).toMatchObject([{ where: 'tool "fickle"', cause: { code: "CONTRADICTION" } }]);
    expect(String(tools.faults[0]?.cause)).toContain('Cannot use the answer to "who"');
  });

  it("continues when a question differed once", async () => {
    let times = 0;
    const tools = openTools({
      late: asking((ask) =>
        ask.elicit("who", anything, `Who, ${Math.min((times += 1), 2)}?`).then(({ action }) => action),
      ),
    });
    const { outcome, rounds } = await callInRounds(tools, ["late"], { reply: accepting() });
    expect(rounds).toHaveLength(2);
    expect(shortOf(outcome)).toEqual({ value: "accept" });
  });

  it("reports progress in each round, as its own request", async () => {
    const told: (string | undefined)[] = [];
    const steps: AnyBespokeTool = {
      handler: async (_args, { ask, progress }) => {
        progress({ progress: 1, message: "begun" });
        await ask.elicit("first", anything, "First?");
        progress({ progress: 2, message: "first" });
      },
    };
    const tools = openTools({ steps });
    const outcome = await callInRounds(
      {
        ...tools,
        call: (id, args, setting) =>
          tools.call(id, args, { ...setting, sink: ({ message }) => void told.push(message) }),
      },
      ["steps"],
      { reply: accepting() },
    );
    expect(outcome.rounds).toEqual([["first"]]);
    expect(told).toEqual(["begun", "begun", "first"]);
  });
});
