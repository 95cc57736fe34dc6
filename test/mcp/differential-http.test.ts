import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, httpHandler, type HttpHandler } from "../../src/http/index.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { envelope, handshake, legacyLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import type { Sent } from "./client-harness.ts";
import { alike, asks, featureAsks, knownTo, versions, withoutChance } from "./differential-cases.ts";
import { letIn, toCaller, viewAsks, type Coming } from "./differential-views-cases.ts";
import { createFeaturesApp } from "./features-app.ts";
import { OracleHttp, readMessages } from "./oracle/oracle-http.ts";
import { createViewsApp } from "./views-app.ts";

/** A method, its params, and members of their `_meta`. */
type Asked = readonly [method: string, params?: object | undefined, meta?: object];

/** The part of a response that both servers write alike. */
interface Answered {
  readonly status: number;
  readonly messages: readonly Sent[];
}

/** Creates the POST of one message. */
class Requests {
  readonly #era: Era;
  readonly #url: string;
  readonly headers: Record<string, string> = {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };

  constructor(era: Era, { surface }: Pick<Coming, "surface">) {
    this.#era = era;
    this.#url = `http://localhost/mcp?surface=${encodeURIComponent(surface)}`;
  }

  ask(method: string, params?: object, meta: object = {}): Request {
    const isModern = this.#era === "modern";
    const more = Object.keys(meta).length === 0 ? {} : { _meta: meta };
    const given = isModern ? { ...params, _meta: { ...envelope, ...meta } } : params && { ...params, ...more };
    return this.post(legacyLine(1, method, given), isModern ? toMirrors(method, params) : {});
  }

  post(body: string, more: Readonly<Record<string, string>> = {}): Request {
    return new Request(this.#url, { method: "POST", headers: { ...this.headers, ...more }, body });
  }
}

function toMirrors(method: string, params: object = {}): Readonly<Record<string, string>> {
  const head = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  const name: unknown = Reflect.get(params, method === "resources/read" ? "uri" : "name");
  return typeof name === "string" ? { ...head, "mcp-name": name } : head;
}

/** Returns the first message of a stream, and ends it. */
async function firstMessage({ body }: Response): Promise<unknown> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const piece = await reader?.read();
    text += piece?.value ?? "";
    const [message] = readMessages(text.slice(0, text.lastIndexOf("\n\n") + 1));
    if (message === undefined && piece?.done === false) continue;
    await reader?.cancel();
    return message;
  }
}

/** A client of our handler and one of the SDK, for the same app. Whoever opened it closes it. */
class Pair {
  readonly #handler: HttpHandler;
  readonly #door: OracleHttp;
  readonly #ours: Requests;
  readonly #theirs: Requests;

  constructor(era: Era, create: () => ServableApp, coming: Coming = { who: "anybody", surface: "default" }) {
    const { scopes } = coming;
    const resource = "http://localhost/mcp";
    const verify = async () => ({ id: "ann", scopes: scopes ?? [], resource });
    const auth = scopes === undefined ? { allowAnonymous: true } : { auth: bearer({ resource, verify }) };
    this.#handler = httpHandler(create(), { ...auth, rateLimit: false });
    this.#door = new OracleHttp(create().open(), toCaller(coming));
    this.#ours = new Requests(era, coming);
    this.#theirs = new Requests(era, coming);
    if (scopes !== undefined) this.#ours.headers["authorization"] = "Bearer t";
  }

  /** Opens a session. Returns what both introduce themselves with. */
  async greet(
    protocolVersion: string = handshake.protocolVersion,
  ): Promise<{ readonly hot: Answered; readonly sdk: Answered }> {
    const body = legacyLine("open", "initialize", { ...handshake, protocolVersion });
    const response = await this.#handler(this.#ours.post(body));
    const sdk = await this.#door.fetch(this.#theirs.post(body));
    const greeting = { status: response.status, messages: readMessages(await response.text()) };
    this.#ours.headers["mcp-session-id"] = response.headers.get("mcp-session-id") ?? "";
    this.#ours.headers["mcp-protocol-version"] = protocolVersion;
    await this.#handler(this.#ours.post('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
    return { hot: greeting, sdk };
  }

  /** Sends a request that is answered with a stream. Returns the first message of each. */
  async firstOfStream(...[method, params, meta]: Asked): Promise<{ readonly hot: unknown; readonly sdk: unknown }> {
    const hot = await firstMessage(await this.#handler(this.#ours.ask(method, params, meta)));
    return { hot, sdk: await firstMessage(await this.#door.open(this.#theirs.ask(method, params, meta))) };
  }

  async both(...[method, params, meta]: Asked): Promise<{ readonly hot: Answered; readonly sdk: Answered }> {
    const [response, sdk] = await Promise.all([
      this.#handler(this.#ours.ask(method, params, meta)),
      this.#door.fetch(this.#theirs.ask(method, params, meta)),
    ]);
    return { hot: { status: response.status, messages: readMessages(await response.text()) }, sdk };
  }

  async close(): Promise<void> {
    await this.#handler.close();
    await this.#door.close();
  }
}

/** The messages of the SDK, with the differences on purpose replaced. */
function alikeOver(hot: Answered, sdk: Answered): unknown {
  return sdk.messages.map((message, index) => alike(hot.messages[index] ?? {}, message));
}

function messagesOf({ messages }: Answered): unknown {
  return messages.map(withoutChance);
}

const logLevel = { "io.modelcontextprotocol/logLevel": "debug" };

/** Requests that clients of one era alone send, and the number of messages of each answer. */
const ofOneEra: Readonly<Record<Era, readonly (readonly [count: number, asked: Asked])[]>> = {
  legacy: [
    [1, ["ping", undefined]],
    [1, ["logging/setLevel", { level: "debug" }]],
    [1, ["resources/subscribe", { uri: "studio://tempo" }]],
    [1, ["resources/unsubscribe", { uri: "studio://tempo" }]],
  ],
  modern: [
    [2, ["tools/call", { name: "link" }, logLevel]],
    [1, ["server/discover", {}]],
  ],
};

describe.each(versions)("our HTTP handler and the SDK's, with %s", (version, era) => {
  let hostile: Pair;
  let features: Pair;

  beforeAll(async () => {
    hostile = new Pair(era, () => createHostileApp({ pageSize: 7, onFault: () => {} }));
    features = new Pair(era, () => createFeaturesApp());
    if (era === "legacy") await Promise.all([hostile.greet(version), features.greet(version)]);
  });
  afterAll(() => Promise.all([hostile.close(), features.close()]));

  it.each(asks)("give the same answer to %s", async (_name, method, params) => {
    const { hot, sdk } = await hostile.both(method, params);
    expect(messagesOf(hot)).toEqual(knownTo(version, alikeOver(hot, sdk)));
    expect(hot.messages).toHaveLength(1);
    expect(hot.status).toBe(200);
  });

  // Progress is the same in all versions of an era.
  it.each(version < "2025-11-25" ? [] : asks)(
    "give the same answer to %s with a progress token",
    async (_name, method, params = {}) => {
      const { hot, sdk } = await hostile.both(method, params, { progressToken: "t" });
      expect(messagesOf(hot)).toEqual(knownTo(version, alikeOver(hot, sdk)));
    },
  );

  it.each(featureAsks.map(([method, params]) => ({ method, params })))(
    "give the same answer to $method $params",
    async ({ method, params }) => {
      const { hot, sdk } = await features.both(method, params);
      expect(messagesOf(hot)).toEqual(knownTo(version, alikeOver(hot, sdk)));
    },
  );

  it("give the same answer to a call that takes a while, with a progress token", async () => {
    const { hot, sdk } = await hostile.both("tools/call", { name: "slow", arguments: { ms: 5 } }, { progressToken: 5 });
    expect(messagesOf(hot)).toEqual(knownTo(version, alikeOver(hot, sdk)));
  });

  it.each(["nope", "resources/nope", "tasks/get", "prompts/list"])("answer -32601 to %s", async (method) => {
    const { hot, sdk } = await hostile.both(method, {});
    expect(messagesOf(hot)).toEqual(messagesOf(sdk));
    expect(hot.messages[0]).toHaveProperty("error.code", -32601);
    // The SDK answers clients up to 2025-11-25 by a stream, whose status says nothing.
    expect([hot.status, sdk.status]).toEqual(era === "modern" ? [404, 404] : [200, 200]);
  });

  it.each(ofOneEra[era])("write %i messages for %j, which only one era has", async (count, asked) => {
    const { hot, sdk } = await features.both(...asked);
    expect(messagesOf(hot)).toEqual(knownTo(version, alikeOver(hot, sdk)));
    expect(hot.messages).toHaveLength(count);
  });
});

describe("our HTTP handler and the SDK's", () => {
  it.each(versions.filter(([, era]) => era === "legacy"))("introduce themselves alike with %s", async (version) => {
    const pair = new Pair("legacy", () => createFeaturesApp());
    const { hot, sdk } = await pair.greet(version);
    expect(messagesOf(hot)).toEqual(knownTo(version, messagesOf(sdk)));
    expect([hot.status, sdk.status, hot.messages.length]).toEqual([200, 200, 1]);
    await pair.close();
  });

  it("acknowledge a subscription alike", async () => {
    const pair = new Pair("modern", () => createHostileApp());
    const notifications = { resourceSubscriptions: ["app://state"], toolsListChanged: true };
    const { hot, sdk } = await pair.firstOfStream("subscriptions/listen", { notifications });
    expect(hot).toEqual(sdk);
    expect(hot).toHaveProperty("method", "notifications/subscriptions/acknowledged");
    await pair.close();
  });
});

describe.each<Era>(["legacy", "modern"])("our HTTP handler and the SDK's by views, in the %s era", (era) => {
  it.each(letIn)("give the same answers to $who by the view $surface", async (coming) => {
    const pair = new Pair(era, () => createViewsApp().app, coming);
    if (era === "legacy") await pair.greet();
    for (const [method, params] of viewAsks) {
      const { hot, sdk } = await pair.both(method, params);
      expect(messagesOf(hot), `${method} ${JSON.stringify(params)}`).toEqual(alikeOver(hot, sdk));
      expect(hot.messages).toHaveLength(1);
    }
    await pair.close();
  });
});
