import { type Era, type Question, toRequest, toSaying } from "../driver/requests.ts";

/** Whom a request is from, and where it goes. */
export interface Sender {
  readonly era: Era;
  /** The session, in the legacy era, once there is one. */
  readonly session?: string | undefined;
  readonly token?: string | undefined;
  /** The views that the requests name in turn. Default: they name none. */
  readonly views?: readonly string[] | undefined;
}

/** Ids all have as many digits, so that what a request is long is known before its id is. */
export const firstId = 1_000_000;

function headersOf(method: string, { era, session, token }: Sender): readonly string[] {
  return [
    `${method} /mcp HTTP/1.1`,
    "host: 127.0.0.1",
    ...(era === "modern" ? ["mcp-protocol-version: 2026-07-28"] : []),
    ...(era === "legacy" && session !== undefined ? ["mcp-protocol-version: 2025-11-25"] : []),
    ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ];
}

function toText(head: readonly string[], length: number): string {
  const both = ["accept: application/json, text/event-stream", "content-type: application/json"];
  return `${[...head, ...both, `content-length: ${length}`].join("\r\n")}\r\n\r\n`;
}

function nameOf({ params }: Question): string | undefined {
  const name = params["name"] ?? params["uri"];
  return typeof name === "string" ? name : undefined;
}

/** Makes the requests of one question, one an id. All but the id, and the view, is written once. */
export function toPost(question: Question, sender: Sender): (id: number) => string {
  const request = toRequest(question, sender.era);
  const name = nameOf(question);
  const mirrors =
    sender.era === "modern"
      ? [`mcp-method: ${question.method}`, ...(name === undefined ? [] : [`mcp-name: ${name}`])]
      : [];
  const head = toText([...headersOf("POST", sender), ...mirrors], Buffer.byteLength(request(firstId)));
  const { views } = sender;
  if (views === undefined) return (id) => head + request(id);
  const [before, after] = [head.slice(0, "POST /mcp".length), head.slice("POST /mcp".length)];
  return (id) => `${before}?surface=${views[id % views.length]}${after}${request(id)}`;
}

/** A notification, which is answered with nothing. */
export function toNotification(method: string, sender: Sender): string {
  const line = toSaying(method);
  return toText(headersOf("POST", sender), Buffer.byteLength(line)) + line;
}

/** Asks for the stream of a session. */
export function toGet(sender: Sender): string {
  return `${[...headersOf("GET", sender), "accept: text/event-stream"].join("\r\n")}\r\n\r\n`;
}
