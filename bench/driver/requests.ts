/** The two eras of the protocol. */
export type Era = "legacy" | "modern";

/** The eras, in the order in which they are shown. */
export const eras: readonly Era[] = ["legacy", "modern"];

/** What is asked of a server: a method, and its params without the modern envelope. */
export interface Question {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The questions of the benchmark. */
export const questions = {
  echo: { method: "tools/call", params: { name: "echo", arguments: { text: "the quick brown fox" } } },
  big: {
    method: "tools/call",
    params: {
      name: "big",
      arguments: {
        query: { text: "all", states: ["open", "closed"] },
        page: { number: 1, size: 100 },
        newestFirst: true,
      },
    },
  },
  read: { method: "resources/read", params: { uri: "surface://bench/counter" } },
  list: { method: "tools/list", params: {} },
} as const satisfies Record<string, Question>;

const clientInfo = { name: "bench", version: "0.0.0" };

/** The `_meta` of requests of the modern era. */
export const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": clientInfo,
};

function toLine(message: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}

/** Makes the lines of one question, one an id. All but the id is written once. */
export function toRequest({ method, params }: Question, era: Era): (id: number) => string {
  const line = toLine({ method, params: era === "modern" ? { _meta: envelope, ...params } : params });
  const [before = "", after = ""] = line.split(`"jsonrpc":"2.0",`);
  return (id) => `${before}"jsonrpc":"2.0","id":${id},${after}`;
}

/** What is asked first, in each era. */
export const openings: Readonly<Record<Era, Question>> = {
  legacy: { method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
  modern: { method: "server/discover", params: {} },
};

/** What asks to be told of changes of the counter, in each era. */
export const watchings: Readonly<Record<Era, Question>> = {
  legacy: { method: "resources/subscribe", params: { uri: questions.read.params.uri } },
  modern: {
    method: "subscriptions/listen",
    params: { notifications: { resourceSubscriptions: [questions.read.params.uri] } },
  },
};

/** The first request on a connection. */
export function toOpening(era: Era): string {
  return toRequest(openings[era], era)(0);
}

/** Asks to be told of changes of the counter; one line says that it is so. */
export function toWatching(era: Era): string {
  return toRequest(watchings[era], era)(2);
}

/** The line of a notification without params. */
export function toSaying(method: string): string {
  return toLine({ method });
}

/** What a legacy client says after the handshake. */
export const initialized: string = toSaying("notifications/initialized");
