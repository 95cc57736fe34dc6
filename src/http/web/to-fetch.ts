import type { HttpServe } from "../message.ts";
import { WebReply } from "./web-reply.ts";
import { WebRequest } from "./web-request.ts";

/** What frameworks and runtimes of the web call with a request. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Makes what serves a request of the web's. Its promise never rejects. */
export function toFetch(serve: HttpServe): FetchHandler {
  return (request) => {
    const reply = new WebReply(request);
    if (!reply.isOver) serve(new WebRequest(request), reply);
    return reply.response;
  };
}
