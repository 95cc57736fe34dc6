import type { Socket } from "node:net";

/** What is told that its connection is closed. */
export interface OpenReply {
  gone(): void;
}

const open = new WeakMap<object, Set<OpenReply>>();

/**
 * Remembers what is being answered on a connection, until it is let go. Node tells a response that its connection is closed
 * only when it is its turn: those that wait behind another one on the same connection would run on for nobody.
 */
export function addOpenReply(socket: Socket, reply: OpenReply): void {
  const replies = open.get(socket);
  if (replies !== undefined) return void replies.add(reply);
  const added = new Set([reply]);
  open.set(socket, added);
  socket.once("close", () => {
    for (const one of [...added]) one.gone();
  });
}

/** Lets go of what was answered. Callable twice. */
export function removeOpenReply(socket: Socket, reply: OpenReply): void {
  open.get(socket)?.delete(reply);
}

/** Whether something is being answered on a connection: what is written there now would be taken for that. */
export function hasOpenReplies(socket: object): boolean {
  return (open.get(socket)?.size ?? 0) > 0;
}
