import { SurfaceError } from "../../errors.ts";
import type { HttpServe } from "../message.ts";
import { WebReply } from "./web-reply.ts";
import { WebRequest } from "./web-request.ts";

/** What frameworks and runtimes of the web call with a request. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Refuses objects that are no web `Request`. The types of Express accept any function as a handler. `instanceof` would refuse
 * the request classes of other implementations.
 */
function assertRequest(request: unknown): void {
  const headers: unknown =
    typeof request === "object" && request !== null ? Reflect.get(request, "headers") : undefined;
  if (typeof headers === "object" && headers !== null && typeof Reflect.get(headers, "get") === "function") return;
  throw new SurfaceError(
    "INVALID_OPTION",
    "Cannot serve the request: it is not a web Request; pass handler.node to Express, Fastify and node:http",
  );
}

/** Creates the function that serves a web request. It throws if its argument is no `Request`; its promise never rejects. */
export function toFetch(serve: HttpServe): FetchHandler {
  return (request) => {
    assertRequest(request);
    const reply = new WebReply(request);
    if (!reply.isOver) serve(new WebRequest(request), reply);
    return reply.response;
  };
}
