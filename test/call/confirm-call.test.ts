import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { ClientPort } from "../../src/call/asker.ts";
import type { InputRequest } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import { CallContext } from "../../src/call/call-context.ts";
import type { JsonObject, JsonValue } from "../../src/schema/json.ts";
import { accepting, callInRounds, everyKind, pushing, type Reply } from "./asking-support.ts";
import { ada, shortOf, toolsOf, type Tools } from "./nesting-support.ts";

const input = z.object({ path: z.string() });

/** A tool that counts how often it ran, and what its user was asked. */
function removing(more: Partial<AnyBespokeTool> = { confirm: true }) {
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  return { handler, tools: toolsOf({ remove: { title: "Remove a file", input, handler, ...more } }) };
}

/** What a call goes on from whose user has agreed. */
async function consentOf(tools: Tools): Promise<ClientPort["resumed"]> {
  const first = await tools.call("remove", { path: "a" }, { asking: { kinds: everyKind } });
  if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
  const answers = Object.fromEntries(Object.keys(first.open).map((key) => [key, { action: "accept" }]));
  return { record: first.record, answers };
}

const eras = {
  pushed: async (tools: Tools, reply: Reply, args: JsonObject) =>
    tools.call("remove", args, { asking: pushing(reply) }),
  replayed: async (tools: Tools, reply: Reply, args: JsonObject) =>
    (await callInRounds(tools, ["remove", args], { reply })).outcome,
};

describe.each(Object.entries(eras))("a tool that is to be confirmed, %s", (_era, run) => {
  it("runs once when the user accepts, and shows title and arguments", async () => {
    const { tools, handler } = removing();
    const asked: InputRequest[] = [];
    const reply: Reply = (ask) => (asked.push(ask), { action: "accept" });
    expect(shortOf(await run(tools, reply, { path: "/etc" }))).toEqual({ path: "/etc" });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(asked).toEqual([
      {
        kind: "elicit",
        params: {
          message: 'Run "Remove a file"?\npath: "/etc"',
          requestedSchema: { type: "object", properties: {} },
        },
        timeoutMs: 300_000,
      },
    ]);
  });

  it("runs only when the user types the required word", async () => {
    const { tools, handler } = removing({ confirm: { type: "CLOSE" } });
    const asked: InputRequest[] = [];
    for (const content of [
      undefined,
      {},
      { confirm: "" },
      { confirm: "close" },
      { confirm: true },
      { type: "CLOSE" },
    ]) {
      const reply: Reply = (ask) => (
        asked.push(ask),
        { action: "accept", ...(content === undefined ? {} : { content }) }
      );
      expect(await run(tools, reply, { path: "/etc" })).toMatchObject({
        code: "DECLINED",
        details: { action: "accept" },
      });
    }
    expect(handler).not.toHaveBeenCalled();
    expect(asked[0]?.params).toEqual({
      message: 'Run "Remove a file"?\npath: "/etc"\nType CLOSE to confirm.',
      requestedSchema: {
        type: "object",
        properties: { confirm: { type: "string", title: "Type CLOSE to confirm" } },
        required: ["confirm"],
      },
    });
    const typed: Reply = () => ({ action: "accept", content: { confirm: "CLOSE" } });
    expect(shortOf(await run(tools, typed, { path: "/etc" }))).toEqual({ path: "/etc" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["composed", "l\u00f6schen", "lo\u0308schen"],
    ["decomposed", "lo\u0308schen", "l\u00f6schen"],
    ["with vowel signs", "\u0939\u091f\u093e\u090f\u0902", "\u0939\u091f\u093e\u090f\u0902"],
  ])("takes the word in either Unicode form when its author writes it %s", async (_form, type, typed) => {
    const { tools, handler } = removing({ confirm: { type } });
    const reply: Reply = () => ({ action: "accept", content: { confirm: typed } });
    expect(shortOf(await run(tools, reply, { path: "/etc" }))).toEqual({ path: "/etc" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it.each(["decline", "cancel"])("does not run when the user says %s", async (action) => {
    const { tools, handler } = removing();
    const outcome = await run(tools, () => ({ action }), { path: "/etc" });
    expect(outcome).toMatchObject({ code: "DECLINED", details: { action } });
    expect(handler).not.toHaveBeenCalled();
  });

  it.each<[string, JsonObject]>([
    ["nothing", {}],
    ["true", { action: true }],
    ["a text that begins so", { action: "accepted" }],
  ])("does not run when the client answers %s", async (_name, answer) => {
    const { tools, handler } = removing();
    expect(shortOf(await run(tools, () => answer, { path: "/etc" }))).toBe("ASK_FAILED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("asks nothing when its arguments do not fit", async () => {
    const { tools } = removing();
    const reply = vi.fn<Reply>(accepting());
    expect(shortOf(await run(tools, reply, { path: 7 }))).toBe("VALIDATION_ERROR");
    expect(reply).not.toHaveBeenCalled();
  });

  it("is refused when its schema returns a new default each time: the user cannot confirm the call that will run", async () => {
    let count = 0;
    const fields = z.object({ id: z.number().default(() => (count += 1)) });
    const { tools, handler } = removing({ confirm: true, input: fields });
    const reply = vi.fn<Reply>(accepting());
    expect(shortOf(await run(tools, reply, {}))).toBe("ASK_FAILED");
    expect(reply).toHaveBeenCalledTimes(2);
    expect(handler).not.toHaveBeenCalled();
    expect(shortOf(await run(tools, reply, { id: 7 }))).toEqual({ id: 7 });
  });

  it("asks for each call, also for nested ones", async () => {
    const { handler } = removing();
    const tools = toolsOf({
      remove: {
        canCall: ["one"],
        handler: (_args, { call }) => Promise.all([call("one", { path: "a" }), call("one", { path: "a" })]),
      },
      one: { input, handler, confirm: true },
    });
    const reply = vi.fn<Reply>(accepting());
    expect((await run(tools, reply, {})).kind).toBe("answer");
    expect(reply).toHaveBeenCalledTimes(2);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describe("a tool that is to be confirmed", () => {
  it("is refused with CLIENT_CANNOT when its client cannot ask, and runs where its author says otherwise", async () => {
    const refusing = removing();
    const outcome = await refusing.tools.call("remove", { path: "a" }, { asking: { kinds: new Set(["roots"]) } });
    expect(outcome).toMatchObject({ code: "CLIENT_CANNOT", requiredCapabilities: { elicitation: { form: {} } } });
    expect(refusing.handler).not.toHaveBeenCalled();
    const allowing = removing({ confirm: { otherwise: "allow" } });
    expect(shortOf(await allowing.tools.call("remove", { path: "a" }))).toEqual({ path: "a" });
    expect(
      shortOf(await allowing.tools.call("remove", { path: "a" }, { asking: pushing(() => ({ action: "decline" })) })),
    ).toBe("DECLINED");
  });

  it("takes no consent to other arguments", async () => {
    const { tools, handler } = removing();
    const first = await tools.call("remove", { path: "a" }, { asking: { kinds: everyKind } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    const resumed = { record: first.record, answers: { [key]: { action: "accept" } } };
    const other = await tools.call("remove", { path: "b" }, { asking: { kinds: everyKind, resumed } });
    expect(other.kind).toBe("asking");
    expect(handler).not.toHaveBeenCalled();
  });

  it("takes no consent that differs only where the user was shown no more", async () => {
    const { tools } = removing();
    const long = "x".repeat(5000);
    const first = await tools.call("remove", { path: `${long}a` }, { asking: { kinds: everyKind } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    expect(JSON.stringify(first.open[key]).length).toBeLessThan(2500);
    expect(JSON.stringify(first.open[key])).toContain("… (5003 characters) …");
    const resumed = { record: first.record, answers: { [key]: { action: "accept" } } };
    expect((await tools.call("remove", { path: `${long}b` }, { asking: { kinds: everyKind, resumed } })).kind).toBe(
      "asking",
    );
  });

  it("shows every declared argument before the others, at any length of those", async () => {
    const handler = vi.fn<(args: unknown) => unknown>();
    const { tools } = removing({
      confirm: true,
      handler,
      input: z.looseObject({ note: z.string(), path: z.string() }),
    });
    const asked: InputRequest[] = [];
    const others = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`path: "/tmp"\n${index}`, index]));
    const note = `${"n".repeat(9000)}\n\npath: "/tmp"${"n".repeat(9000)}`;
    const args = { ...others, note, path: `/${"x".repeat(500)}/etc/passwd` };
    await tools.call("remove", args, { asking: pushing(() => ({ action: "decline" }), asked) });
    const message: unknown = asked[0]?.params["message"];
    const lines = String(message).split("\n");
    expect(lines.slice(0, 4)).toEqual([
      'Run "Remove a file"?',
      expect.stringMatching(/^note: "n+ … \(18020 characters\) … n+"$/),
      expect.stringMatching(/^path: "\/x+ … \(514 characters\) … x+\/etc\/passwd"$/),
      '"path: \\"/tmp\\"\\n0": 0',
    ]);
    expect(lines).toHaveLength(52);
    expect(lines.at(-1)).toMatch(/^… and 12 more values: "path: \\"\/tmp\\"\\n48"/);
  });

  it("shows the values within a long object or list, each by its path, the declared ones first", async () => {
    const order = z.looseObject({ note: z.string(), to: z.string(), amount: z.number() });
    const handler = vi.fn<(args: unknown) => unknown>();
    const { tools } = removing({ confirm: true, handler, input: z.object({ order, steps: z.array(z.json()) }) });
    const asked: InputRequest[] = [];
    const long = "n".repeat(5000);
    const args = {
      order: { more: long, note: long, to: "mallory", amount: 1_000_000, "a b": [] },
      steps: [{ run: long, as: "root" }],
    };
    await tools.call("remove", args, { asking: pushing(() => ({ action: "decline" }), asked) });
    const message: unknown = asked[0]?.params["message"];
    const lines = String(message).split("\n").slice(1);
    expect(lines.map((line) => line.replace(/"n+ … .*/, "LONG"))).toEqual([
      "order.note: LONG",
      'order.to: "mallory"',
      "order.amount: 1000000",
      "order.more: LONG",
      'order["a b"]: []',
      "steps[0].run: LONG",
      'steps[0].as: "root"',
    ]);
  });

  it("names and counts the values that find no room", async () => {
    const { tools } = removing({ confirm: true, input: z.object({ ids: z.array(z.string()) }) });
    const asked: InputRequest[] = [];
    const ids = Array.from({ length: 1000 }, (_, index) => `id-${index}`);
    await tools.call("remove", { ids }, { asking: pushing(() => ({ action: "decline" }), asked) });
    const message: unknown = asked[0]?.params["message"];
    const lines = String(message).split("\n");
    expect(lines).toHaveLength(52);
    expect(lines[50]).toBe('ids[49]: "id-49"');
    expect(lines[51]).toBe("… and 950 more values: ids[50] to ids[999]");
  });

  it("shows invisible characters of its arguments", async () => {
    const { tools } = removing();
    const asked: InputRequest[] = [];
    const path = "a\u202egpj.exe\u200b\n\u{e0041}";
    await tools.call("remove", { path }, { asking: pushing(() => ({ action: "decline" }), asked) });
    expect(asked[0]?.params["message"]).toBe('Run "Remove a file"?\npath: "a\\u{202e}gpj.exe\\u{200b}\\n\\u{e0041}"');
  });
});

describe("an app that has all changes confirmed", () => {
  async function askedOf(more: Partial<AnyBespokeTool>, isUncounted = false): Promise<boolean> {
    const { tools } = removing(more);
    const invoker = createInvoker({ report: () => {}, confirm: "refuse" });
    const entry = { ...tools.entry("remove"), isUncounted };
    const outcome = await invoker.call(
      entry,
      { path: "a" },
      new CallContext({ caller: ada, asking: { kinds: everyKind } }),
    );
    invoker.close();
    return outcome.kind === "asking";
  }

  it.each<[string, Partial<AnyBespokeTool>, boolean]>([
    ["may change something", {}, true],
    ["only reads", { mutates: false }, false],
    ["only reads, and says that it is to be confirmed", { mutates: false, confirm: true }, true],
    ["says that it is not to be confirmed", { confirm: false }, false],
  ])("asks about a tool that %s: as it says", async (_name, more, asks) => {
    expect(await askedOf(more)).toBe(asks);
  });

  it("asks nothing for the tools of a gateway", async () => {
    expect(await askedOf({}, true)).toBe(false);
  });
});

describe("the arguments in a confirmation", () => {
  const shown = async (tool: Partial<AnyBespokeTool>, args: JsonObject = {}): Promise<unknown> => {
    const asked: InputRequest[] = [];
    const tools = toolsOf({ wipe: { confirm: true, handler: () => ({}), ...tool } });
    await tools.call("wipe", args, { asking: pushing(() => ({ action: "decline" }), asked) });
    return asked[0]?.params["message"];
  };

  it("are those that run, with defaults", async () => {
    const schema = z.object({ dir: z.string().default("/"), at: z.coerce.date().optional() });
    expect(await shown({ input: schema })).toBe('Run "wipe"?\ndir: "/"');
    expect(await shown({})).toBe('Run "wipe"?');
    expect(await shown({}, { dryRun: true })).toBe('Run "wipe"?');
  });

  class Sealed {
    readonly #dir = "a";
    read() {
      return this.#dir;
    }
  }
  class Folder {
    readonly dir = "a";
  }
  const cyclic: { dir: string; self?: unknown } = { dir: "a" };
  cyclic.self = cyclic;
  const hidden = '"(a value that cannot be shown)"';

  it.each<[string, readonly [schema: z.ZodType, sent: JsonValue], string]>([
    ["a bigint", [z.bigint(), "5"], '"5"'],
    ["a date", [z.date(), "2020-01-01"], '"2020-01-01T00:00:00.000Z"'],
    ["a set", [z.set(z.bigint()), ["1", "2"]], '["1","2"]'],
    ["a map", [z.map(z.string(), z.bigint()), [["a", "1"]]], '[["a","1"]]'],
    ["a regular expression", [z.string().transform((text) => new RegExp(text, "i")), "a+"], '"/a+/i"'],
    ["bytes", [z.string().transform((text) => new TextEncoder().encode(text)), "ab"], '"YWI="'],
    ["a buffer", [z.string().transform((text) => Buffer.from(text)), "ab"], '"YWI="'],
    ["no number", [z.number().transform(() => Number.NaN), 1], '"NaN"'],
    ["a URL", [z.string().transform((text) => new URL(text)), "http://a"], '"http://a/"'],
    ["what an invalid value is read as", [z.enum(["dry", "real"]).catch("real"), "dry "], '"real"'],
    ["an instance with fields", [z.string().transform(() => new Folder()), "b"], '{"dir":"a"}'],
    ["an instance without fields", [z.string().transform(() => new Sealed()), "b"], hidden],
    ["a function", [z.string().transform(() => () => {}), "b"], hidden],
    ["a symbol", [z.string().transform(() => Symbol("b")), "b"], hidden],
    ["an invalid date", [z.string().transform(() => new Date(Number.NaN)), "b"], hidden],
    ["a cycle", [z.string().transform(() => cyclic), "b"], `{"dir":"a","self":${hidden}}`],
    [
      "a getter that throws",
      [
        z.string().transform(() => ({
          dir: "a",
          get bad(): string {
            throw new Error("secret");
          },
        })),
        "b",
      ],
      `{"dir":"a","bad":${hidden}}`,
    ],
  ])(
    "are shown with %s beside defaults, and without properties that the schema drops",
    async (_what, [value, sent], text) => {
      const schema = z.object({ value, to: z.string().trim().toLowerCase(), force: z.boolean().default(true) });
      const args = { value: sent, to: " EVE ", dryRun: true, note: "refund to ada" };
      expect(await shown({ input: schema }, args)).toBe(`Run "wipe"?\nvalue: ${text}\nto: "eve"\nforce: true`);
    },
  );

  it("are not shown as the agent sent them when the whole input is one value that cannot be shown", async () => {
    const schema = z.object({ dir: z.string() }).transform(() => new Sealed());
    expect(await shown({ input: schema }, { dir: "a", dryRun: true })).toBe(`Run "wipe"?\nvalue: ${hidden}`);
  });

  const order = z.looseObject({ note: z.string(), to: z.string(), amount: z.number(), more: z.string() });
  const stolen = { to: "mallory", amount: 1_000_000 };

  it.each<[string, string]>([
    ["a long text", "thank you ".repeat(150)],
    ["characters that are written as escapes", "\u200b".repeat(300)],
    ["quotes", '"'.repeat(1000)],
    ["a text that fits alone, but not beside others", "thank you ".repeat(40)],
  ])("are shown one by one when the other values of an object are %s", async (_what, text) => {
    const fields = z.object({ order, tags: z.array(z.string()) });
    const tags = Array.from({ length: 40 }, (_, index) => `${"x".repeat(30)}${index}`);
    const lines = String(await shown({ input: fields }, { order: { note: text, ...stolen, more: text }, tags })).split(
      "\n",
    );
    expect(lines).toContain('order.to: "mallory"');
    expect(lines).toContain("order.amount: 1000000");
    expect(lines).toHaveLength(45);
  });

  it("are shown if declared, however long and many the fields before them are", async () => {
    const fields = z.object({
      tags: z.array(z.string()),
      extra: z.record(z.string(), z.number()),
      order,
      to: z.string(),
    });
    const tags = Array.from({ length: 400 }, (_, index) => `${"x".repeat(20)}${index}`);
    const extra = Object.fromEntries(tags.map((tag, index) => [tag, index]));
    const long = "n".repeat(900);
    const args = { tags, extra, order: { ...extra, note: long, ...stolen, more: long }, to: "eve" };
    const message = String(await shown({ input: fields }, args));
    const lines = message.split("\n");
    for (const line of ['order.to: "mallory"', "order.amount: 1000000", 'to: "eve"']) expect(lines).toContain(line);
    expect(lines).toHaveLength(52);
    expect(lines.at(-1)).toMatch(
      /^… and 1155 more values: tags\[\d+\] to tags\[399\], extra\.x+\d+ to extra\.x+399, order\./,
    );
    expect(message.length).toBeLessThan(9000);
  });

  it("gives lists in turn a line each, so that none hides another", async () => {
    const fields = z.object({ notes: z.array(z.string()), to: z.array(z.string()) });
    const notes = Array.from({ length: 400 }, () => "n".repeat(50));
    const to = ["a".repeat(60), "mallory", "b".repeat(60)];
    expect(String(await shown({ input: fields }, { notes, to }))).toContain('\nto[1]: "mallory"');
  });

  it("are quoted if a name looks like a path", async () => {
    const fields = z.looseObject({ order });
    const args = { order: { note: "", ...stolen, more: "" }, "order.to": "alice", "order[0]": 1 };
    const lines = String(await shown({ input: fields }, args)).split("\n");
    expect(lines.slice(2)).toEqual(['"order.to": "alice"', '"order[0]": 1']);
  });

  it("are quoted if a name looks like another line of the question", async () => {
    const args = {
      Tool: "Look",
      tool: "Look",
      "-": "as bob",
      "- as bob": 1,
      "a-b": 1,
      order: { tool: "Look", ...stolen },
    };
    const message = await shown({ input: z.looseObject({}), confirm: () => "Wipe it?" }, args);
    expect(String(message).split("\n")).toEqual([
      "Wipe it?",
      'Tool: "wipe"',
      '"Tool": "Look"',
      '"tool": "Look"',
      '"-": "as bob"',
      '"- as bob": 1',
      "a-b: 1",
      'order: {"tool":"Look","to":"mallory","amount":1000000}',
    ]);
  });

  it("shows the whole of a path when there are few lines", async () => {
    const files = {
      ["/home/ada/projects/surface/packages/payment/src/configuration/settings.json"]: "content ".repeat(12),
    };
    const message = await shown({ input: z.object({ files: z.record(z.string(), z.string()) }) }, { files });
    expect(message).toBe(`Run "wipe"?\nfiles["${Object.keys(files)[0]}"]: ${JSON.stringify(Object.values(files)[0])}`);
  });

  it("are bounded for any depth, width and length of names", async () => {
    const deep = (depth: number): JsonObject =>
      depth === 0 ? { ["k".repeat(5000)]: "v".repeat(5000) } : { ["n".repeat(5000)]: deep(depth - 1), b: deep(0) };
    const wide = Array.from({ length: 3000 }, (_, index) => ({ ["w".repeat(200)]: index, v: "v".repeat(90) }));
    const message = String(await shown({ input: z.looseObject({}) }, { deep: deep(20), wide }));
    expect(message.split("\n").length).toBeLessThanOrEqual(52);
    expect(message.length).toBeLessThan(12_000);
  });

  it("have invisible characters of a title shown, up to the bound of a name", async () => {
    expect(await shown({ title: "Show\u202e epiw \u200b" })).toBe('Run "Show\\u{202e} epiw \\u{200b}"?');
    expect(String(await shown({ title: "x".repeat(9000) })).length).toBeLessThan(300);
  });

  it("are bounded for any text at the cut", async () => {
    for (const character of ["\u200b", "\u0085", "\u{e0041}", "\u{1f600}", "x"]) {
      for (let length = 1000; length < 1004; length += 1) {
        const path = `${"x".repeat(length)}${character.repeat(3000)}`;
        const message = String(await shown({ input }, { path }));
        const lines = message.split("\n");
        expect(lines).toEqual(['Run "wipe"?', expect.stringMatching(/^path: "x.* … \(\d+ characters\) … .*"$/u)]);
        expect(message.length).toBeLessThan(2200);
        expect(lines[1]).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }
    }
  });
});

describe.each(Object.keys(eras))("a tool that is hidden from its caller before they confirm, %s", (era) => {
  it("does not run, and looks unknown", async () => {
    const { tools, handler } = removing();
    let isShown = true;
    const asking: ClientPort =
      era === "pushed"
        ? pushing(() => ((isShown = false), { action: "accept" }))
        : { kinds: everyKind, resumed: await consentOf(tools) };
    if (era !== "pushed") isShown = false;
    const call = new CallContext({ caller: ada, asking });
    call.stillShown = () => isShown;
    expect(await tools.invoker.call(tools.entry("remove"), { path: "a" }, call)).toEqual({
      kind: "denied",
      scopes: undefined,
    });
    expect(handler).not.toHaveBeenCalled();
  });
});
