import type { Caller } from "../../src/surface/caller.ts";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { httpHandler, type HttpHandler } from "../../src/http/http.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import type { TestedTransport, OpenTransport, Told } from "./tested-transport.ts";
import type { RecordedApp } from "./recorded-app.ts";
import { openTestClient } from "./test-client-transport.ts";

const scopeCode = -32011;
const url = "http://localhost/mcp";
const subscribing = (uri: string): JsonObject => ({ notifications: { resourceSubscriptions: [uri] } });

/** Puts down what was said to a request. */
export function toTold(message: unknown): Told {
  // What is answered is a JSON-RPC message.
  const { id: _id, ...rest } = message as JsonObject & { error?: { code?: number }; result?: JsonObject };
  return { text: JSON.stringify(rest), isDenied: rest.error?.code === scopeCode, result: rest.result };
}

async function openConnection(app: ServableApp, era: Era): Promise<OpenTransport> {
  const harness = await new ConnectionHarness(app.open()).open(era);
  let last = 0;
  const ask = async (method: string, params: JsonObject): Promise<Told> => {
    last += 1;
    return toTold(await harness.request(era, last, { method, params }));
  };
  return {
    ask,
    watch: async (uri) => (era === "legacy" ? subscribeFor(ask, uri) : listenOnConnection(harness, (last += 1), uri)),
    close: () => harness.close(),
  };
}

async function subscribeFor(ask: OpenTransport["ask"], uri: string): Promise<Told> {
  const told = await ask("resources/subscribe", { uri });
  await ask("resources/unsubscribe", { uri });
  return told;
}

const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

async function listenOnConnection(harness: ConnectionHarness, id: number, uri: string): Promise<Told> {
  const isOf = (sent: object): boolean => {
    const meta: unknown = Reflect.get(Object(Reflect.get(sent, "params")), "_meta");
    return Reflect.get(sent, "id") === id || Reflect.get(Object(meta), subscriptionKey) === id;
  };
  harness.gate.receive(modernLine(id, "subscriptions/listen", subscribing(uri)));
  await harness.until(() => harness.sent.some(isOf));
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
  harness.gate.receive(JSON.stringify(cancelled));
  return toTold(withoutSubscription(harness.sent.find(isOf)));
}

/** Under which id something was subscribed to is no part of what was said. */
function withoutSubscription(message: unknown): unknown {
  const params: unknown = Reflect.get(Object(message), "params");
  if (typeof params !== "object" || params === null) return message;
  return { ...Object(message), params: { ...params, _meta: undefined } };
}

const resource = "https://s.example/mcp";

function openHandler(app: ServableApp, caller: Caller | undefined): HttpHandler {
  const open = { maxStreamsPerPrincipal: 1000, rateLimit: false } as const;
  if (caller === undefined) return httpHandler(app, { ...open, allowAnonymous: true });
  const { id, scopes } = caller;
  return httpHandler(app, { ...open, auth: bearer({ resource, verify: async () => ({ id, scopes, resource }) }) });
}

/** What is sent with every request, where somebody is known to ask. */
function credentials(caller: Caller | undefined): Readonly<Record<string, string>> {
  return caller === undefined ? {} : { authorization: "Bearer token" };
}

async function openModern(app: ServableApp, caller: Caller | undefined): Promise<OpenTransport> {
  const handler = openHandler(app, caller);
  const send = (method: string, params: JsonObject): Promise<Response> => {
    const { headers, ...rest } = modernPost(method, params);
    const request = new Request(url, { ...rest, headers: { ...Object(headers), ...credentials(caller) } });
    return handler.fetch(request);
  };
  return {
    ask: async (method, params) => toTold(await (await send(method, params)).json()),
    async watch(uri) {
      const response = await send("subscriptions/listen", subscribing(uri));
      if (response.headers.get("content-type") !== "text/event-stream") return toTold(await response.json());
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      const text = new TextDecoder().decode(value);
      const [, json = "{}"] = /^data: (.*)$/m.exec(text) ?? [];
      return toTold(withoutSubscription(JSON.parse(json)));
    },
    close: () => handler.close(),
  };
}

async function openLegacy(app: ServableApp, caller: Caller | undefined): Promise<OpenTransport> {
  const handler = openHandler(app, caller);
  let session: Readonly<Record<string, string>> = {};
  const send = (body: string): Promise<Response> => {
    const accept = "application/json, text/event-stream";
    const headers = { "content-type": "application/json", accept, ...session, ...credentials(caller) };
    return handler.fetch(new Request(url, { method: "POST", headers, body }));
  };
  const opened = await send(legacyLine("open", "initialize", handshake));
  await opened.text();
  const id = opened.headers.get("mcp-session-id") ?? "";
  session = { "mcp-session-id": id, "mcp-protocol-version": handshake.protocolVersion };
  await send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  let last = 0;
  const ask = async (method: string, params: JsonObject): Promise<Told> => {
    last += 1;
    return toTold(await (await send(legacyLine(last, method, params))).json());
  };
  return { ask, watch: (uri) => subscribeFor(ask, uri), close: () => handler.close() };
}

const eras: readonly Era[] = ["legacy", "modern"];

/** Every way into an app. */
export const doors: readonly TestedTransport[] = [
  ...eras.map((era) => ({
    name: `stdio, ${era}`,
    knowsCaller: false,
    hidesWatched: false,
    open: (app: ServableApp) => openConnection(app, era),
  })),
  { name: "HTTP, legacy", knowsCaller: true, hidesWatched: false, open: openLegacy },
  { name: "HTTP, modern", knowsCaller: true, hidesWatched: false, open: openModern },
  ...eras.map((era) => ({
    name: `the test client, ${era}`,
    knowsCaller: true,
    hidesWatched: true,
    open: async (app: RecordedApp["app"], caller: Caller | undefined) => openTestClient(app, { era, caller }),
  })),
];
