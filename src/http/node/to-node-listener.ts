import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpServe } from "../message.ts";
import { NodeReply } from "./node-reply.ts";
import { NodeRequest } from "./node-request.ts";

/** What `node:http` and the frameworks over it call with a request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Makes what serves a request of `node:http`.
 *
 * @param isLeaving - whether connections are to be closed with what is answered on them. Default: they are kept.
 */
export function toNodeListener(serve: HttpServe, isLeaving: () => boolean = () => false): NodeListener {
  return (request, response) => serve(new NodeRequest(request, response), new NodeReply(request, response, isLeaving));
}
