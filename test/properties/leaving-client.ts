import { constantFrom, integer, oneof, record, type Arbitrary } from "fast-check";
import { RawClient } from "../http/node/raw-client.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";

/** What a client asks for before it goes away. */
export const asks = [
  "call",
  "call with progress",
  "read",
  "listen",
  "list",
  "initialize",
  "subscribe",
  "get",
  "resume",
  "ping",
  "unknown",
] as const;

/** One client that goes away. */
export interface Leaving {
  readonly ask: (typeof asks)[number];
  readonly era: "legacy" | "modern";
  /**
   * When: after so many thousandths of its request, after so many milliseconds of waiting for an answer, or of its bytes.
   */
  readonly after: { readonly of: "request" | "time" | "answer"; readonly count: number };
  /** How: as who closes, as who dies, or as who has nothing more to say and listens on for a moment. */
  readonly how: "close" | "reset" | "half";
  /** Whether another request follows at once on the same connection. */
  readonly isPipelined: boolean;
}

/** Any of them. */
export const leaving: Arbitrary<Leaving> = record({
  ask: constantFrom(...asks),
  era: constantFrom<Leaving["era"]>("legacy", "modern"),
  after: oneof(
    record({ of: constantFrom<"request">("request"), count: integer({ min: 0, max: 1000 }) }),
    record({ of: constantFrom<"time">("time"), count: integer({ min: 0, max: 40 }) }),
    record({ of: constantFrom<"answer">("answer"), count: integer({ min: 1, max: 900 }) }),
  ),
  how: constantFrom<Leaving["how"]>("close", "reset", "half"),
  isPipelined: constantFrom(false, false, true),
});

/** What somebody asks for: as who goes away, or to change what those others watch. */
type Asked = Leaving["ask"] | "change";

/** A request, before it is bytes. */
interface Asking {
  readonly ask: Asked;
  readonly era: Leaving["era"];
  /** Further headers. */
  readonly headers?: readonly string[];
}

/** Where clients go. */
export interface Target {
  readonly port: number;
  /** The session that those of the legacy era share. */
  readonly session: string;
}

const methods: Readonly<Record<Exclude<Asked, "get" | "resume">, readonly [string, object]>> = {
  change: ["tools/call", { name: "add", arguments: { by: 1 } }],
  call: ["tools/call", { name: "sleep", arguments: { ms: 10 } }],
  "call with progress": ["tools/call", { name: "steps", arguments: { count: 4 } }],
  read: ["resources/read", { uri: "surface://demo/count" }],
  listen: ["subscriptions/listen", { notifications: { resourceSubscriptions: ["surface://demo/count"] } }],
  list: ["tools/list", {}],
  initialize: ["initialize", handshake],
  subscribe: ["resources/subscribe", { uri: "surface://demo/count" }],
  ping: ["ping", {}],
  unknown: ["nothing/known", {}],
};

let lastId = 0;

function nameOf(params: object): readonly string[] {
  const name: unknown = Reflect.get(params, "name") ?? Reflect.get(params, "uri");
  return typeof name === "string" ? [`mcp-name: ${name}`] : [];
}

function toHead(line: string, headers: readonly string[]): string {
  return [line, "host: localhost", "accept: application/json, text/event-stream", ...headers, "", ""].join("\r\n");
}

/** Writes a request as bytes. */
export function toBytes({ ask, era, headers: more = [] }: Asking, { session }: Pick<Target, "session">): string {
  const sessions = [`mcp-session-id: ${session}`, "mcp-protocol-version: 2025-11-25"];
  if (ask === "get") return toHead("GET /mcp HTTP/1.1", sessions);
  if (ask === "resume") return toHead("GET /mcp HTTP/1.1", [...sessions, "last-event-id: 0.0.0"]);
  const [method, params] = methods[ask];
  lastId += 1;
  const token = ask === "call with progress" ? { progressToken: lastId } : {};
  const meta = era === "modern" ? { _meta: { ...envelope, ...token } } : { _meta: token };
  const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: { ...params, ...meta } });
  const modern = ["mcp-protocol-version: 2026-07-28", `mcp-method: ${method}`, ...nameOf(params)];
  const legacy = ask === "initialize" ? [] : sessions;
  const headers = ["content-type: application/json", `content-length: ${body.length}`, ...more];
  return toHead("POST /mcp HTTP/1.1", [...headers, ...(era === "modern" ? modern : legacy)]) + body;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until so much was heard; for no longer than a while, since there may be no more to hear. */
async function hear(client: RawClient, count: number): Promise<void> {
  for (let turns = 0; turns < 30 && client.heard.length < count; turns += 1) await pause(2);
}

async function go(client: RawClient, how: Leaving["how"]): Promise<void> {
  if (how === "half") {
    client.socket.end();
    await pause(5);
  }
  if (how === "reset") client.socket.resetAndDestroy();
  else client.socket.destroy();
  await client.closed();
}

/** Asks, and stays until it is answered. Resolves with all that was heard. */
export async function stay(target: Target, asking: Asking): Promise<string> {
  const raw = new RawClient(target.port);
  raw.send(toBytes({ ...asking, headers: ["connection: close"] }, target));
  return raw.closed();
}

/** Asks, and goes away. Resolves with what was heard, once the client's side of it is closed. */
export async function leave(target: Target, client: Leaving): Promise<string> {
  const { after, how, isPipelined } = client;
  const raw = new RawClient(target.port);
  const bytes = toBytes(client, target) + (isPipelined ? toBytes({ ask: "call", era: "modern" }, target) : "");
  const sent = after.of === "request" ? bytes.slice(0, Math.floor((bytes.length * after.count) / 1000)) : bytes;
  // In two pieces, so that one of them may come alone.
  raw.send(sent.slice(0, sent.length / 2));
  await pause(0);
  raw.send(sent.slice(sent.length / 2));
  if (after.of === "answer") await hear(raw, after.count);
  else await pause(after.of === "time" ? after.count : 1);
  await go(raw, how);
  return raw.heard;
}
