import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { CallContext, type CallStage } from "../../src/call/call-context.ts";
import type { RateLimiter } from "../../src/call/limit-call.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { RpcAnswer } from "../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { cell, collection, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource, type Source } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { handlersOf } from "../fixtures/handlers-of.ts";

const text = z.string();
const read = "shop:read";
const write = "shop:write";

const surface = defineSurface("shop", {
  buy: mcpTool(procedure({ input: z.object({ what: text }), output: text }), { scopes: ["pay"] }),
  look: mcpTool(readOnly(procedure({ output: text }))),
  state: mcpResource(cell({ schema: text }), { scopes: ["audit"] }),
  items: mcpResource(collection({ key: text, schema: text })),
});

/** What the application was asked, and by whom its handlers were. */
const ran: string[] = [];

function tell(what: string): string {
  ran.push(what);
  return what;
}

/** A source that tells when it is read. */
function toldOf<TValue>(name: string, value: TValue): Source<TValue> {
  const source = cellSource(value);
  return {
    get() {
      tell(name);
      return source.get();
    },
    subscribe: (changed) => source.subscribe(changed),
  };
}

function openApp(): AppRuntime {
  return mcp(surface)
    .implement({
      buy: ({ what }) => tell(`buy ${what}`),
      look: () => tell("look"),
      state: toldOf("state", "open"),
      items: toldOf("items", new Map([["a", "1"]])),
    })
    .tools({
      who: { mutates: false, scopes: ["who"], handler: (_args, { caller }) => tell(caller.id) },
    })
    .prompts({
      ask: {
        input: z.object({ name: text, tone: text.optional() }),
        scopes: ["ask"],
        complete: { name: (_begun, { caller }) => [tell(caller.id)] },
        handler: (_args, { caller }) => tell(caller.id),
      },
    })
    .resources({ mine: { read: (_variables, { caller }) => tell(caller.id) } })
    .open();
}

interface Asked {
  readonly answer: RpcAnswer;
  /** The stages that the request came to. */
  readonly stages: readonly CallStage[];
}

let runtime: AppRuntime;
beforeEach(() => {
  runtime = openApp();
  ran.splice(0);
});
afterEach(() => runtime.close());

function callerWith(...scopes: readonly string[]): Caller {
  return { id: "ada", isAnonymous: false, scopes };
}

interface Who {
  readonly caller: Caller;
  readonly limiter?: RateLimiter;
}

async function ask(method: HandledMethod, params: JsonObject, { caller, limiter }: Who): Promise<Asked> {
  const stages: CallStage[] = [];
  const call = new CallContext({ caller, limiter, reached: (stage) => stages.push(stage) });
  const answer = await handlersOf(runtime)[method]?.(params, { era: "modern", call });
  if (answer === undefined) throw new Error(`there is no ${method}`);
  return { answer, stages };
}

interface Use {
  readonly what: string;
  readonly method: HandledMethod;
  readonly params: JsonObject;
  /** All that it takes. */
  readonly scopes: readonly string[];
}

function toCall(what: string, params: JsonObject, scopes: readonly string[]): Use {
  return { what, method: "tools/call", params, scopes };
}

function toRead(what: string, path: string, scopes: readonly string[]): Use {
  return { what, method: "resources/read", params: { uri: `surface://shop/${path}` }, scopes };
}

const ofPrompt = { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "name", value: "" } };
const ofTemplate = {
  ref: { type: "ref/resource", uri: "surface://shop/items/{key}" },
  argument: { name: "key", value: "" },
};

/** Every way to use something that can be asked for. */
const uses: readonly Use[] = [
  toCall("a tool that changes something", { name: "buy", arguments: { what: "tea" } }, [write, "pay"]),
  toCall("a tool that only reads", { name: "look" }, [read]),
  toCall("a bespoke tool", { name: "who" }, [read, "who"]),
  toRead("a resource", "state", [read, "audit"]),
  toRead("the list of a collection", "items", [read]),
  toRead("an item of a collection", "items/a", [read]),
  toRead("a hand-written resource", "mine", [read]),
  {
    what: "a prompt",
    method: "prompts/get",
    params: { name: "ask", arguments: { name: "a" } },
    scopes: [read, "ask"],
  },
  { what: "the argument of a prompt", method: "completion/complete", params: ofPrompt, scopes: [read, "ask"] },
  { what: "the variable of a template", method: "completion/complete", params: ofTemplate, scopes: [read] },
];

describe("handlers and scopes", () => {
  it.each(uses)("$what runs when its caller was granted all that it takes", async ({ method, params, scopes }) => {
    const { answer, stages } = await ask(method, params, { caller: callerWith("more", ...scopes) });
    expect(answer).toMatchObject({ kind: "result" });
    expect(stages).toEqual(["gate", "arguments", "backend"]);
    expect(ran).not.toEqual([]);
  });

  it.each(uses.filter(({ scopes }) => scopes.length === 1))(
    "$what runs for an anonymous caller when its author requires nothing",
    async ({ method, params }) => {
      const { answer, stages } = await ask(method, params, { caller: anonymous });
      expect(answer).toMatchObject({ kind: "result" });
      expect(stages).toEqual(["gate", "arguments", "backend"]);
    },
  );

  it.each(uses.filter(({ scopes }) => scopes.length > 1))(
    "$what looks unknown to an anonymous caller when its author requires anything",
    async ({ method, params }) => {
      const { answer, stages } = await ask(method, params, { caller: anonymous });
      expect(answer).toMatchObject({ kind: "error", code: -32602 });
      expect(answer).not.toHaveProperty("scopes");
      expect(stages).toEqual(["gate"]);
      expect(ran).toEqual([]);
    },
  );

  it.each(uses)("$what runs for an anonymous caller when the server grants the required scopes", async (use) => {
    const { method, params, scopes } = use;
    const { answer } = await ask(method, params, { caller: { ...anonymous, scopes: scopes.slice(1) } });
    expect(answer).toMatchObject({ kind: "result" });
  });

  it.each(uses)(
    "$what runs nothing and names all that it takes when any of that is missing",
    async ({ method, params, scopes }) => {
      for (const missing of scopes) {
        const granted = scopes.filter((scope) => scope !== missing);
        const { answer, stages } = await ask(method, params, { caller: callerWith("more", ...granted) });
        expect(answer).toEqual({
          kind: "error",
          code: -32011,
          message: "Insufficient scope",
          data: { scopes },
          scopes,
        });
        expect(stages).toEqual(["gate"]);
      }
      expect(ran).toEqual([]);
    },
  );

  it("an argument without a completer requires the scopes of its prompt, too", async () => {
    const params = { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "tone", value: "" } };
    const { answer } = await ask("completion/complete", params, { caller: callerWith(read) });
    expect(answer).toMatchObject({ scopes: [read, "ask"] });
    const resource = { ref: { type: "ref/resource", uri: "surface://shop/state" }, argument: { name: "a", value: "" } };
    const { answer: other } = await ask("completion/complete", resource, { caller: callerWith(read) });
    expect(other).toMatchObject({ scopes: [read, "audit"] });
  });

  it.each<readonly [string, HandledMethod, JsonObject]>([
    ["a tool", "tools/call", { name: "buy_", arguments: { what: "tea" } }],
    ["a resource", "resources/read", { uri: "surface://shop/none" }],
    ["a prompt", "prompts/get", { name: "none" }],
    [
      "what is completed",
      "completion/complete",
      { ref: { type: "ref/prompt", name: "none" }, argument: { name: "a", value: "" } },
    ],
  ])("%s that does not exist reaches no stage after authorisation", async (_what, method, params) => {
    const { answer, stages } = await ask(method, params, { caller: callerWith() });
    expect(answer).toMatchObject({ kind: "error", code: -32602 });
    expect(answer).not.toHaveProperty("scopes");
    expect(stages).toEqual(["gate"]);
  });

  it.each<readonly [string, HandledMethod, JsonObject]>([
    ["a tool", "tools/call", { name: "buy", arguments: { what: 1, more: [] } }],
    ["a bespoke tool", "tools/call", { name: "who", arguments: { more: 1 } }],
    ["a prompt", "prompts/get", { name: "ask", arguments: {} }],
  ])("invalid arguments of %s are refused as such only for a caller with its scopes", async (_what, method, params) => {
    const { answer, stages } = await ask(method, params, { caller: callerWith() });
    expect(answer).toMatchObject({ code: -32011 });
    expect(stages).toEqual(["gate"]);
  });

  it("arguments of a prompt that do not fit never come to its handler", async () => {
    const { answer, stages } = await ask(
      "prompts/get",
      { name: "ask", arguments: {} },
      { caller: callerWith(read, "ask") },
    );
    expect(answer).toMatchObject({ kind: "error", code: -32602 });
    expect(stages).toEqual(["gate", "arguments"]);
  });

  it.each<readonly [string, HandledMethod, JsonObject]>([
    ["a bespoke tool", "tools/call", { name: "who" }],
    ["a prompt", "prompts/get", { name: "ask", arguments: { name: "a" } }],
    ["a hand-written resource", "resources/read", { uri: "surface://shop/mine" }],
    ["a completer", "completion/complete", ofPrompt],
  ])("%s receives its caller", async (_what, method, params) => {
    await ask(method, params, { caller: callerWith(read, "who", "ask") });
    await ask(method, params, { caller: { ...anonymous, scopes: ["who", "ask"] } });
    expect(ran).toEqual(["ada", "anonymous"]);
  });
});

describe("handlers and limits", () => {
  const asked: string[] = [];
  const limiter: RateLimiter = {
    limit(key, cost) {
      asked.push(`${cost} ${key}`);
      return { ok: false, retryAfterMs: 250 };
    },
  };
  beforeEach(() => void asked.splice(0));

  it("a call beyond the limit is refused in a result, once its caller may make it and its arguments fit", async () => {
    const params = { name: "buy", arguments: { what: 1 } };
    const { answer, stages } = await ask("tools/call", params, { caller: callerWith(write, "pay"), limiter });
    expect(answer).toMatchObject({ kind: "result", body: expect.stringContaining('"isError":true') });
    const { meta } = answer as { readonly meta: string };
    expect(JSON.parse(`{${meta}}`)).toEqual({
      "surface-mcp/error": {
        code: "RATE_LIMITED",
        message: expect.stringContaining("250 ms"),
        details: { retryAfterMs: 250 },
        retryable: true,
      },
    });
    expect(stages).toEqual(["gate", "arguments"]);
    expect(asked).toEqual(['4 [null,"ada",null,""]']);
    expect(ran).toEqual([]);
  });

  it("a call without the scopes is refused, and not charged", async () => {
    const params = { name: "buy", arguments: { what: 1 } };
    const { answer, stages } = await ask("tools/call", params, { caller: callerWith(write), limiter });
    expect(answer).toMatchObject({ kind: "error", scopes: [write, "pay"] });
    expect([stages, asked]).toEqual([["gate"], []]);
  });

  it("a call of an unknown tool is not charged, nor is an invalid one", async () => {
    const who = { caller: callerWith(read, "ask"), limiter };
    await ask("tools/call", { name: "none" }, who);
    await ask("tools/call", { name: 1 }, who);
    await ask("resources/read", { uri: "surface://shop/mine" }, who);
    await ask("prompts/get", { name: "ask", arguments: { name: "a" } }, who);
    await ask("tools/list", {}, who);
    expect(asked).toEqual([]);
  });

  it("a call of an anonymous caller is not limited", async () => {
    const { answer } = await ask("tools/call", { name: "look" }, { caller: anonymous, limiter });
    expect(answer).not.toMatchObject({ body: expect.stringContaining("isError") });
    expect(asked).toEqual([]);
  });

  it("a call within the limit runs", async () => {
    const open: RateLimiter = { limit: async () => ({ ok: true }) };
    const { stages } = await ask("tools/call", { name: "look" }, { caller: callerWith(read), limiter: open });
    expect(stages).toEqual(["gate", "arguments", "backend"]);
    expect(ran).toEqual(["look"]);
  });

  it("a call that was cancelled while its limiter thought is not run", async () => {
    let letThrough: (verdict: { readonly ok: true }) => void = () => {};
    const slow: RateLimiter = { limit: () => new Promise((resolve) => (letThrough = resolve)) };
    const call = new CallContext({ caller: callerWith(read), limiter: slow });
    const answering = handlersOf(runtime)["tools/call"]({ name: "look" }, { era: "modern", call });
    call.cancel();
    letThrough({ ok: true });
    expect(await answering).toMatchObject({ body: expect.stringContaining("ABORTED") });
    expect(ran).toEqual([]);
  });
});
