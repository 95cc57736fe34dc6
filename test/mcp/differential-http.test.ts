import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, httpHandler, type HttpHandler } from "../../src/http/index.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import { envelope, handshake, legacyLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { alike, asks, featureAsks, withoutChance } from "./differential-cases.ts";
import { asksOf, keptOut, letIn, viewAsks, type Coming } from "./differential-views-cases.ts";
import { createFeaturesApp } from "./features-app.ts";
import type { Sent } from "./gate-harness.ts";
import { createViewsApp } from "./views-app.ts";

/** A method, its params, and what is added to their `_meta`. */
type Asked = readonly [method: string, params?: object | undefined, meta?: object];

/** What a client sees of one answer. */
interface Answered {
  readonly status: number;
  /** Those that say something: the length and the date do not. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly messages: readonly Sent[];
}

const anyone = { allowAnonymous: true };
const telling = ["content-type", "cache-control", "www-authenticate", "retry-after", "x-accel-buffering"];

function readMessages(text: string): readonly Sent[] {
  if (text.startsWith("{")) return [JSON.parse(text)];
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

/** How a client comes. */
interface Door {
  readonly handler: HttpHandler;
  readonly era: Era;
  readonly query?: string;
  readonly token?: string;
}

/** One client of one server, over HTTP without a network. Whoever opened it closes it. */
class Client {
  readonly #era: Era;
  readonly #handler: HttpHandler;
  readonly #url: string;
  readonly #identity: Readonly<Record<string, string>>;
  #session: string | null = null;

  constructor({ handler, era, query = "", token }: Door) {
    this.#handler = handler;
    this.#era = era;
    this.#url = `http://localhost/mcp${query}`;
    this.#identity = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  get session(): string | null {
    return this.#session;
  }

  async open(): Promise<this> {
    if (this.#era === "modern") return this;
    const response = await this.#post(legacyLine("open", "initialize", handshake), {});
    this.#session = response.headers.get("mcp-session-id");
    await response.text();
    await this.#post('{"jsonrpc":"2.0","method":"notifications/initialized"}', {});
    return this;
  }

  async ask(method: string, params: object | undefined, meta: object = {}): Promise<Answered> {
    const isModern = this.#era === "modern";
    const more = Object.keys(meta).length === 0 ? {} : { _meta: meta };
    const given = isModern ? { ...params, _meta: { ...envelope, ...meta } } : params && { ...params, ...more };
    const response = await this.#post(legacyLine(1, method, given), isModern ? toMirrors(method, params) : {});
    return {
      status: response.status,
      headers: Object.fromEntries(telling.map((name) => [name, response.headers.get(name)])),
      messages: readMessages(await response.text()),
    };
  }

  close(): Promise<void> {
    return this.#handler.close();
  }

  #post(body: string, more: Readonly<Record<string, string>>): Promise<Response> {
    const headers = {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...this.#identity,
      ...(this.#session === null ? {} : { "mcp-session-id": this.#session }),
      ...more,
    };
    return this.#handler(new Request(this.#url, { method: "POST", headers, body }));
  }
}

function toMirrors(method: string, params: object = {}): Readonly<Record<string, string>> {
  const head = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  const name: unknown = Reflect.get(params, method === "resources/read" ? "uri" : "name");
  return typeof name === "string" ? { ...head, "mcp-name": name } : head;
}

/** The SDK's answer, with the differences on purpose replaced. */
function alikeOver(hot: Answered, sdk: Answered): unknown {
  const messages = sdk.messages.map((message, index) => alike(hot.messages[index] ?? {}, message));
  return { ...sdk, messages };
}

function oneLess(answered: Answered): unknown {
  return { ...answered, messages: answered.messages.map(withoutChance) };
}

interface OfOneEra {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly messages: number;
}

/** What only clients of one era can ask: what a call logs, by a level of its own, and who is there. */
const modernAsks: Readonly<Record<Era, readonly OfOneEra[]>> = {
  legacy: [],
  modern: [
    {
      method: "tools/call",
      params: { name: "link" },
      meta: { "io.modelcontextprotocol/logLevel": "debug" },
      messages: 2,
    },
    { method: "server/discover", params: {}, messages: 1 },
  ],
};

describe.each<Era>(["legacy", "modern"])("the hot path and the SDK's path over HTTP, in the %s era", (era) => {
  const clients: Client[] = [];
  let hostile: readonly Client[] = [];
  let features: readonly Client[] = [];

  beforeAll(async () => {
    const open = async (handler: HttpHandler): Promise<Client> => {
      const client = new Client({ handler, era });
      clients.push(client);
      return client.open();
    };
    const silent = { onFault: () => {} };
    const paths = [true, false];
    hostile = await Promise.all(
      paths.map((hotPath) => open(httpHandler(createHostileApp({ hotPath, pageSize: 7, ...silent }), anyone))),
    );
    features = await Promise.all(paths.map((hotPath) => open(httpHandler(createFeaturesApp({ hotPath }), anyone))));
  });
  afterAll(() => Promise.all(clients.map((client) => client.close())));

  async function both(pair: readonly Client[], [method, params, meta]: Asked) {
    const [hot, sdk] = await Promise.all(pair.map((client) => client.ask(method, params, meta)));
    if (hot === undefined || sdk === undefined) throw new Error("there are two");
    return { hot, sdk };
  }

  it.each(asks)("give the same answer to %s", async (_name, method, params) => {
    const { hot, sdk } = await both(hostile, [method, params]);
    expect(oneLess(hot)).toEqual(alikeOver(hot, sdk));
    expect(hot.messages).toHaveLength(1);
    expect(hot.status).toBe(200);
  });

  it.each(asks)("give the same answer to %s with a progress token", async (_name, method, params = {}) => {
    const { hot, sdk } = await both(hostile, [method, params, { progressToken: "t" }]);
    expect(oneLess(hot)).toEqual(alikeOver(hot, sdk));
  });

  it.each(featureAsks.map(([method, params]) => ({ method, params })))(
    "give the same answer to $method $params",
    async ({ method, params }) => {
      const { hot, sdk } = await both(features, [method, params]);
      expect(oneLess(hot)).toEqual(alikeOver(hot, sdk));
    },
  );

  it("tell alike of progress, and of the result behind it", async () => {
    const params = { name: "slow", arguments: { ms: 5 } };
    const { hot, sdk } = await both(hostile, ["tools/call", params, { progressToken: 5 }]);
    expect(oneLess(hot)).toEqual(alikeOver(hot, sdk));
  });

  it.each(["nope", "resources/nope", "tasks/get"])("do not know %s alike", async (method) => {
    const { hot, sdk } = await both(hostile, [method, {}]);
    expect(oneLess(hot)).toEqual(oneLess(sdk));
    expect(hot.messages[0]).toHaveProperty("error.code", -32601);
    expect(hot.status).toBe(era === "modern" ? 404 : 200);
  });

  it.each(modernAsks[era])("give the same answer to $method, which one era alone asks", async (asked) => {
    const { method, params, meta = {}, messages } = asked;
    const { hot, sdk } = await both(features, [method, params, meta]);
    expect(oneLess(hot)).toEqual(alikeOver(hot, sdk));
    expect(hot.messages).toHaveLength(messages);
  });
});

describe.each<Era>(["legacy", "modern"])("the hot path and the SDK's path over HTTP by views, in the %s era", (era) => {
  const resource = "http://localhost/mcp";

  function toDoor(hotPath: boolean, { surface, scopes }: Coming): Door {
    const { app } = createViewsApp({ hotPath });
    const query = `?surface=${encodeURIComponent(surface)}`;
    if (scopes === undefined) return { handler: httpHandler(app, anyone), era, query };
    const auth = bearer({ resource, verify: async () => ({ id: "ann", scopes, resource }) });
    return { handler: httpHandler(app, { auth, rateLimit: false }), era, query, token: "t" };
  }

  async function withBoth(coming: Coming, use: (pair: readonly Client[]) => Promise<void>): Promise<void> {
    const pair = await Promise.all([true, false].map((hotPath) => new Client(toDoor(hotPath, coming)).open()));
    await use(pair);
    await Promise.all(pair.map((each) => each.close()));
  }

  const asked = era === "legacy" ? [["resources/subscribe", { uri: "surface://ci/secrets" }] as const] : [];

  it.each(letIn)("give the same answers to $who by the view $surface", async (coming) => {
    await withBoth(coming, async (pair) => {
      for (const [method, params] of [...viewAsks, ...asked]) {
        const [hot, sdk] = await Promise.all(pair.map((each) => each.ask(method, params)));
        if (hot === undefined || sdk === undefined) throw new Error("there are two");
        expect(oneLess(hot), `${method} ${JSON.stringify(params)}`).toEqual(alikeOver(hot, sdk));
        expect(hot.messages).toHaveLength(1);
      }
    });
  });

  it.each(keptOut)("keep $who out alike by the view $surface", async (coming) => {
    await withBoth(coming, async (pair) => {
      for (const [method, params] of [["initialize", handshake] as const, ...viewAsks]) {
        const [hot, sdk] = await Promise.all(pair.map((each) => each.ask(method, params)));
        expect(hot).toEqual(sdk);
        expect(hot?.messages[0]).toHaveProperty("error");
      }
      expect(pair.map(({ session }) => session)).toEqual([null, null]);
    });
  });

  it("say of what a view hides what they say of what never was", async () => {
    await withBoth({ who: "anybody", surface: "readonly" }, async (pair) => {
      for (const each of pair) {
        const answersTo = async (named: ReturnType<typeof asksOf>, name: RegExp): Promise<readonly string[]> => {
          const answers = [];
          for (const [method, params] of named) {
            answers.push(JSON.stringify(await each.ask(method, params)).replaceAll(name, "NAME"));
          }
          return answers;
        };
        const hidden = await answersTo(asksOf("note", "plan", "secrets"), /\b(?:note|plan|secrets)\b/g);
        expect(hidden).toEqual(await answersTo(asksOf("nope", "nope", "nope"), /\bnope\b/g));
      }
    });
  });
});
