import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpServe } from "../message.ts";
import type { Connections } from "./connections.ts";
import { NodeReply } from "./node-reply.ts";
import { NodeRequest } from "./node-request.ts";

/** What `node:http` and the frameworks over it call with a request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** What a listener is made of. */
export interface NodeListenerParts {
  readonly serve: HttpServe;
  /** What is answered on each. */
  readonly connections: Connections;
  /** Whether connections are to be closed with what is answered on them. Default: they are kept. */
  readonly isLeaving?: () => boolean;
}

/** Makes what serves a request of `node:http`. */
export function toNodeListener({ serve, connections, isLeaving = () => false }: NodeListenerParts): NodeListener {
  return (request, response) => {
    // What came in one piece with others is read from a connection that was dropped, too.
    if (request.socket.destroyed) return;
    const connection = connections.of(request.socket);
    if (!connection.hasRoom()) return;
    serve(new NodeRequest(request, response, connection), new NodeReply({ request, response, connection, isLeaving }));
  };
}
