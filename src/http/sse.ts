/** What a stream of events is answered with. `x-accel-buffering` keeps proxies from holding events back. */
export const eventStreamHeaders: Readonly<Record<string, string>> = Object.freeze({
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

/** A comment: keeps a quiet connection from being taken for a dead one. */
export const keepAliveComment = ": keep-alive\n\n";

/** Writes one JSON-RPC message as an event. JSON text has no line breaks of its own, so that one line of data holds it. */
export function toEvent(json: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${json}\n\n` : `id: ${id}\nevent: message\ndata: ${json}\n\n`;
}
