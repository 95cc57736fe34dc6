import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import type { CallLimiter, LimitVerdict } from "../../../src/call/limit-call.ts";
import type { Caller } from "../../../src/surface/caller.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { invoker } from "../../../src/from/invoker/index.ts";
import {
  cellSource,
  defineSurface,
  implementSurface,
  inProcess,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  type McpOptions,
  type MountedOperation,
  type ViewRule,
} from "../../../src/index.ts";
import { fromJsonSchema } from "../../../src/schema/validator/from-json-schema.ts";
import type { ToolContext } from "../../../src/catalog/context/tool-context.ts";
import { isJsonObject, type JsonObject } from "../../../src/schema/json.ts";
import { envelope } from "../../fixtures/envelope.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";

const surface = defineSurface("asker", {});
const none = { type: "object", properties: {} } as const;
const ada: Caller = { id: "ada", isAnonymous: false, scopes: ["asker:read", "asker:write"] };

function create(options: McpOptions = {}) {
  return mcp(surface, { onFault: () => {}, ...options }).bridge(inProcess(implementSurface(surface, {})));
}

const opened: AppRuntime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
});

/** Asks in the modern era as one caller does, and says what came of it. */
function asker(app: { open(): AppRuntime }, limit?: CallLimiter["limit"]) {
  const runtime = app.open();
  opened.push(runtime);
  const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
  return async (method: "tools/call" | "prompts/get" | "resources/read", more: object): Promise<JsonObject> => {
    // As it comes off the wire: nobody else holds a part of it.
    const params = structuredClone({ _meta: { ...envelope, ...capable }, ...more });
    const call = new CallContext({ caller: ada, ...(limit === undefined ? {} : { limiter: { limit } }) });
    const text = JSON.stringify({ params });
    const answer = await handlersOf(runtime)[method]?.(params, { era: "modern", call, text });
    if (answer?.kind === "error") return { error: { code: answer.code, message: answer.message } };
    const body: unknown = JSON.parse(`{${answer?.kind === "result" ? answer.body : ""}}`);
    return isJsonObject(body) ? body : {};
  };
}

/** The same request again, with consent to all that was asked. */
function consenting({ inputRequests, requestState }: JsonObject): object {
  const keys = Object.keys(isJsonObject(inputRequests) ? inputRequests : {});
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, { action: "accept" }])) };
}

const unusable = expect.objectContaining({ code: -32602 });

describe("a state that is answered", () => {
  const asking = async (_args: unknown, { ask }: ToolContext<unknown>): Promise<object> => {
    const { action } = await ask.elicit("ok", none, "Ok?");
    return { action };
  };

  it("is not limited when the limiter let the first call through, since it is the same call", async () => {
    const verdicts: LimitVerdict[] = [{ ok: true }];
    const request = asker(
      create().tools({ t: { handler: asking } }),
      () => verdicts.shift() ?? { ok: false, retryAfterMs: 1 },
    );
    const first = await request("tools/call", { name: "t" });
    const again = { name: "t", ...consenting(first) };
    expect(await request("tools/call", again)).toMatchObject({ structuredContent: { action: "accept" } });
    expect(await request("tools/call", again)).toEqual({ error: unusable });
    expect(await request("tools/call", { name: "t" })).toMatchObject({ isError: true });
  });

  it.each([
    ["tools/call", { name: "t" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "surface://asker/desk" }],
  ] as const)("runs nothing of %s when its state was used, or the claim fails", async (method, params) => {
    const claimed: unknown[] = [false, "yes", undefined, new Error("down"), true];
    let ran = 0;
    const run = async (_args: unknown, context: ToolContext<unknown>): Promise<object> => {
      ran += 1;
      return await asking(undefined, context);
    };
    const claim = async (): Promise<boolean> => {
      const said = claimed.shift();
      if (said instanceof Error) throw said;
      // What an honest author's types would not let through.
      return said as boolean;
    };
    const app = create({ asking: { claim } })
      .tools({ t: { mutates: false, handler: run } })
      .prompts({ p: { handler: async (_args, context) => JSON.stringify(await run(undefined, context)) } })
      .resources({ desk: { read: run } });
    const request = asker(app);
    const again = { ...params, ...consenting(await request(method, params)) };
    for (const code of [-32602, -32602, -32602, -32603]) {
      expect(await request(method, again)).toHaveProperty("error.code", code);
    }
    expect(ran).toBe(1);
    expect(JSON.stringify(await request(method, again))).toContain("accept");
  });
});

describe("a handler that mutates its arguments", () => {
  const json = fromJsonSchema({ type: "object", properties: { n: { type: "number" } } });

  it("costs no copy of them in a call without questions", async () => {
    const runtime = create()
      .tools({ t: { input: z.object({ n: z.number() }), handler: () => "done" } })
      .open();
    opened.push(runtime);
    const toJSON = vi.fn<() => unknown>(() => ({}));
    const args = Object.defineProperty({ n: 1 }, "toJSON", { value: toJSON });
    const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const params = { name: "t", arguments: args, _meta: { ...envelope, ...capable } };
    const call = new CallContext({ caller: ada });
    expect(await handlersOf(runtime)["tools/call"](params, { era: "modern", call })).toMatchObject({ kind: "result" });
    expect(toJSON).not.toHaveBeenCalled();
  });

  it("is no matter of the request that brings the answer", async () => {
    const request = asker(
      create().tools({
        t: {
          mutates: false,
          input: json,
          async handler(args, { ask }) {
            Object.assign(args ?? {}, { n: 7, more: true });
            await ask.elicit("ok", none, "Ok?");
            return { args };
          },
        },
      }),
    );
    const asked = { name: "t", arguments: { n: 1 } };
    const first = await request("tools/call", asked);
    expect(await request("tools/call", { ...asked, ...consenting(first) })).toMatchObject({
      structuredContent: { args: { n: 7, more: true } },
    });
  });

  it("cannot change them within a batch either, and nothing runs twice", async () => {
    let charged = 0;
    const shop = invoker({
      list: () => [{ name: "charge", inputSchema: { type: "object", properties: { n: { type: "number" } } } }],
      invoke: (_name, args) => {
        charged += 1;
        return Object.assign(args, { n: 700 });
      },
    });
    const rules: ViewRule[] = [{ verdict: { kind: "tool_surface", face: "gateway" } }];
    const app = create()
      .tools({ wipe: { confirm: true, handler: () => ({ wiped: true }) } })
      .mount("shop", shop)
      .views(rules);
    const request = asker(app);
    const calls = [{ tool: "wipe" }, { tool: "shop.charge", input: { n: 1 } }];
    const asked = { name: "call", arguments: { calls } };
    const first = await request("tools/call", asked);
    expect(await request("tools/call", { ...asked, ...consenting(first) })).toMatchObject({
      structuredContent: { results: [{ success: true }, { success: true }] },
    });
    expect(charged).toBe(1);
  });
});

describe("a tool that asks its user", () => {
  const faces = { itself: "direct", batch: "gateway" } as const;

  /** What came of a call in the midst of which rules come that hide this. */
  async function hiding(
    hidden: string,
    by: keyof typeof faces,
  ): Promise<{ readonly ran: number; readonly text: string }> {
    let ran = 0;
    const toRules = (disallow: string): readonly ViewRule[] => [
      { verdict: { kind: "tool_surface", face: faces[by], disallow: [disallow] } },
    ];
    const rules = cellSource(toRules("other"));
    const tools = {
      wipe: { confirm: true, handler: () => ({ ran: (ran += 1) }) },
      ...{ other: { handler: () => ({}) }, another: { handler: () => ({}) } },
    };
    const runtime = create().tools(tools).views(rules).open();
    opened.push(runtime);
    const push = async (): Promise<JsonObject> => (rules.set(toRules(hidden)), { action: "accept" });
    const call = new CallContext({ caller: ada, asking: { kinds: new Set(["elicit"]), push } });
    const params = by === "batch" ? { name: "call", arguments: { calls: [{ tool: "wipe" }] } } : { name: "wipe" };
    const answer = await handlersOf(runtime)["tools/call"]?.(params, { era: "legacy", call });
    return { ran, text: JSON.stringify(answer) };
  }

  it.each([
    ["itself", "Invalid params: there is no such tool"],
    ["batch", "OPERATION_NOT_FOUND"],
  ] as const)("does not run when it was hidden meanwhile, called by %s", async (by, gone) => {
    const { ran, text } = await hiding("wipe", by);
    expect(ran).toBe(0);
    expect(text).toContain(gone);
  });

  it.each(["itself", "batch"] as const)("runs when something else was hidden, called by %s", async (by) => {
    expect(await hiding("another", by)).toHaveProperty("ran", 1);
  });
});

describe("an operation that is replaced during its question", () => {
  const faces = { itself: "direct", batch: "gateway" } as const;
  const wipe: MountedOperation = { name: "wipe", title: "Wipe", type: "mutation", confirm: true };
  const n = { type: "object", properties: { n: { type: "number" } } } as const;
  const silent = { ...wipe, confirm: false };

  /** What is registered first, and what takes its place; left out: something else is registered. */
  const cases: Readonly<Record<string, readonly [MountedOperation, MountedOperation?]>> = {
    "with another description": [wipe, { ...wipe, description: "All of it, and the backups" }],
    "with another input": [wipe, { ...wipe, inputSchema: n }],
    "with another word to type": [wipe, { ...wipe, confirm: { type: "WIPE" } }],
    "with no confirmation": [wipe, silent],
    "by an equal one": [wipe, { ...wipe }],
    "by none, but another is registered": [wipe],
  };
  const table = (["legacy", "modern"] as const).flatMap((era) =>
    (["itself", "batch"] as const).flatMap((by) => Object.keys(cases).map((how) => [how, era, by] as const)),
  );

  it.each(table)("%s, is not run, or is where it stays: %s, called by %s", async (how, era, by) => {
    const [first, second] = cases[how] ?? [wipe];
    const ran: string[] = [];
    const source = operationRegistry([[first, () => ({ did: ran.push("first") })]]);
    const replace = (): void => {
      if (second === undefined) source.register({ name: "other" }, () => ({}));
      else source.register(second, () => ({ did: ran.push("second") }), { replace: true });
    };
    const rules: ViewRule[] = [{ verdict: { kind: "tool_surface", face: faces[by] } }];
    const app = create().mount("shop", source).views(rules);
    const asked =
      by === "batch" ? { name: "call", arguments: { calls: [{ tool: "shop.wipe" }] } } : { name: "shop_wipe" };
    let text: string;
    if (era === "modern") {
      const request = asker(app);
      const opening = await request("tools/call", asked);
      replace();
      text = JSON.stringify(await request("tools/call", { ...asked, ...consenting(opening) }));
    } else {
      const runtime = app.open();
      opened.push(runtime);
      const push = async (): Promise<JsonObject> => (replace(), { action: "accept" });
      const call = new CallContext({ caller: ada, asking: { kinds: new Set(["elicit"]), push } });
      text = JSON.stringify(await handlersOf(runtime)["tools/call"]?.(asked, { era, call }));
    }
    expect(ran).toEqual(second === undefined ? ["first"] : []);
    expect(text.includes("OPERATION_NOT_FOUND")).toBe(second !== undefined);
  });

  it("does not run another handler with the answer to the first one", async () => {
    const ran: string[] = [];
    const source = operationRegistry([
      [silent, async (_input, { ask }) => ({ said: await ask.elicit("ok", none, "Ok?") })],
    ]);
    const request = asker(create().mount("shop", source));
    const opening = await request("tools/call", { name: "shop_wipe" });
    source.register(silent, () => ({ did: ran.push("second") }), { replace: true });
    const again = { name: "shop_wipe", ...consenting(opening) };
    expect(JSON.stringify(await request("tools/call", again))).toContain("OPERATION_NOT_FOUND");
    expect(ran).toEqual([]);
  });

  it("is run by another process that lists an equal one", async () => {
    const ran: string[] = [];
    const used = new Set<string>();
    const asking = {
      secret: new Uint8Array(32).fill(3),
      claim: (id: string): boolean => !used.has(id) && used.add(id).has(id),
    };
    // Two openings of two apps stand for two processes: their operations are other objects.
    const requests = [{ ...wipe }, { ...wipe }, { ...wipe, description: "And the backups" }].map((operation) =>
      asker(create({ asking }).mount("shop", operationRegistry([[operation, () => ({ did: ran.push("it") })]]))),
    );
    const [first, equal, other] = requests;
    for (const [next, times] of [
      [other, 0],
      [equal, 1],
    ] as const) {
      const opening = (await first?.("tools/call", { name: "shop_wipe" })) ?? {};
      await next?.("tools/call", { name: "shop_wipe", ...consenting(opening) });
      expect(ran).toHaveLength(times);
    }
  });
});

describe("a member that is confirmed", () => {
  const jobs = defineSurface("asker", {
    wipe: mcpTool(
      procedure({ input: z.object({ path: z.string().trim(), depth: z.number().default(7) }), output: z.json() }),
      { confirm: true },
    ),
    name: mcpTool(procedure({ input: z.string().toLowerCase(), output: z.string() }), { confirm: true }),
  });

  /** What a user is asked, and what comes of it when they agree. */
  async function confirmed(name: string, args: JsonObject): Promise<{ asked: JsonObject; came: JsonObject }> {
    const request = asker(mcp(jobs).implement({ wipe: (input) => input, name: (input) => input }));
    const asked = await request("tools/call", { name, arguments: args });
    return { asked, came: await request("tools/call", { name, arguments: args, ...consenting(asked) }) };
  }

  it("shows its user the arguments after its schema filled in, changed and dropped some", async () => {
    const { asked, came } = await confirmed("wipe", { path: " /tmp ", note: "The administrator has agreed" });
    expect(JSON.stringify(asked)).toContain(JSON.stringify('Run "wipe"?\npath: "/tmp"\ndepth: 7').slice(1, -1));
    expect(JSON.stringify(asked)).not.toContain("administrator");
    expect(came).toMatchObject({ structuredContent: { value: { path: "/tmp", depth: 7 } } });
  });

  it("shows a value that travels under a name when its input is no object", async () => {
    const { asked } = await confirmed("name", { value: "MOSS" });
    expect(JSON.stringify(asked)).toContain(JSON.stringify('Run "name"?\nvalue: "moss"').slice(1, -1));
  });

  it("asks nothing for invalid arguments", async () => {
    const { asked } = await confirmed("wipe", { path: 5 });
    expect(asked).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^VALIDATION_ERROR.*path/s) }],
    });
  });
});

describe("an entry that is hidden from its caller before its turn", () => {
  const shown: ViewRule[] = [{ verdict: { kind: "tool_surface" } }];
  const unknownTool = { code: -32602, message: "Invalid params: there is no such tool" };
  const unknownPrompt = { code: -32602, message: "Invalid params: there is no such prompt" };
  const missing = { code: -32602, message: "Resource not found" };

  it.each([
    ["tools/call", { name: "t" }, unknownTool],
    ["prompts/get", { name: "p" }, unknownPrompt],
    ["resources/read", { uri: "surface://asker/desk" }, missing],
  ] as const)("does not run for %s after its state was claimed", async (method, params, error) => {
    const rules = cellSource<readonly ViewRule[]>(shown);
    let hides = true;
    const claim = async (): Promise<boolean> => {
      if (hides) rules.set([{ verdict: { kind: "deny", reason: "taken away" } }]);
      await Promise.resolve();
      return true;
    };
    let ran = 0;
    const run = async (_args: unknown, { ask }: ToolContext<unknown>): Promise<string> => {
      ran += 1;
      await ask.elicit("ok", none, "Ok?");
      return "done";
    };
    const app = create({ asking: { claim } })
      .tools({ t: { mutates: false, handler: run } })
      .prompts({ p: { handler: run } })
      .resources({ desk: { read: run } })
      .views(rules);
    const request = asker(app);
    const first = await request(method, params);
    expect(await request(method, { ...params, ...consenting(first) })).toEqual({ error });
    expect(ran).toBe(1);
    rules.set(shown);
    hides = false;
    const second = await request(method, params);
    expect(JSON.stringify(await request(method, { ...params, ...consenting(second) }))).toContain("done");
  });

  it.each([
    ["tools/call", { name: "t", arguments: { a: "x" } }, unknownTool],
    ["prompts/get", { name: "p", arguments: { a: "x" } }, unknownPrompt],
  ] as const)("does not run for %s after its arguments were validated", async (method, params, error) => {
    const rules = cellSource<readonly ViewRule[]>(shown);
    let hides = true;
    const slow = async (): Promise<boolean> => {
      if (hides) rules.set([{ verdict: { kind: "tool_surface", disallow: ["t", "p"] } }]);
      await Promise.resolve();
      return true;
    };
    const input = z.object({ a: z.string().refine(slow) });
    let ran = 0;
    const handler = (): string => `ran ${(ran += 1)}`;
    const app = create()
      .tools({ t: { mutates: false, input, handler } })
      .prompts({ p: { input, handler } })
      .views(rules);
    const request = asker(app);
    expect(await request(method, params)).toEqual({ error });
    expect(ran).toBe(0);
    rules.set(shown);
    hides = false;
    expect(JSON.stringify(await request(method, params))).toContain("ran 1");
  });

  it("does not run after a rate limiter was waited for", async () => {
    const rules = cellSource<readonly ViewRule[]>(shown);
    let ran = 0;
    const app = create()
      .tools({ t: { mutates: false, handler: () => `ran ${(ran += 1)}` } })
      .views(rules);
    const request = asker(app, async () => {
      rules.set([{ verdict: { kind: "tool_surface", disallow: ["t"] } }]);
      return { ok: true };
    });
    expect(await request("tools/call", { name: "t" })).toEqual({ error: unknownTool });
    expect(ran).toBe(0);
  });
});
