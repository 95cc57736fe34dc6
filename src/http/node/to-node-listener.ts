import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpServe } from "../message.ts";
import type { Connections } from "./connections.ts";
import { NodeReply } from "./node-reply.ts";
import { NodeRequest } from "./node-request.ts";

/** What `node:http` and the frameworks over it call with a request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Creates a function that serves the requests of a server of `node:http`.
 *
 * @param isLeaving - returns whether connections are to be closed with their answers. @default they are kept
 */
export function toNodeListener(
  serve: HttpServe,
  connections: Connections,
  isLeaving: () => boolean = () => false,
): NodeListener {
  return (request, response) => {
    // What came in one piece with others is read from a connection that was dropped, too.
    if (request.socket.destroyed) return;
    const connection = connections.of(request.socket);
    if (!connection.hasRoom()) return;
    serve(new NodeRequest(request, response, connection), new NodeReply({ request, response, connection, isLeaving }));
  };
}
