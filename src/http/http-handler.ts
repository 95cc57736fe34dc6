import { SurfaceError } from "../errors.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppRuntime, ServableApp } from "../mcp/servable-app.ts";
import { systemClock } from "../surface/system-clock.ts";
import { closeApp, Core, type HttpStats } from "./core.ts";
import type { HttpHandlerOptions } from "./http-options.ts";
import { Connections } from "./node/connections.ts";
import { toNodeListener } from "./node/node-request.ts";
import { type ResolvedHandler, resolveHandlerOptions } from "./resolve-options.ts";
import { toFetch } from "./web.ts";

/** An app that is open, for frameworks and runtimes that have a server of their own. Whoever made it closes it. */
export interface HttpHandler {
  /**
   * Answers a web `Request`. Never rejects.
   *
   * @throws SurfaceError `INVALID_OPTION`, at once, for any other argument: Express and `node:http` take `node`.
   */
  (request: Request): Promise<Response>;
  /** The same, for runtimes that take an object with it. */
  fetch(this: void, request: Request): Promise<Response>;
  /**
   * Answers a request of `node:http`, and of Express, over HTTP/1.1. Not under `node:http2`, where it refuses what comes: many
   * requests share a connection there, and it has to be served by the web's form. Mount it before whatever reads bodies: what has been read by others
   * is taken as they have parsed it, and was bounded by them and not by us.
   */
  node(this: void, request: IncomingMessage, response: ServerResponse): void;
  /** What there is to do, and what it has come to. */
  stats(this: void): HttpStats;
  /**
   * Takes nothing new, ends every stream with what its client waits for, and lets what runs, and answers of `node` that are
   * still being read, come to their end for `drainMs`. Then it aborts what runs, and a second later closes the app, for which
   * it waits two more seconds at most: a handler that does not listen to its signal is reported by its name and left alone.
   * Connections are their server's. Callable twice.
   */
  close(this: void): Promise<void>;
}

function coreOf(runtime: AppRuntime, options: ResolvedHandler): Core {
  try {
    return new Core(runtime, options);
  } catch (cause) {
    void runtime.close().catch(() => {});
    throw cause;
  }
}

/**
 * Opens an app and makes what answers its requests: under Hono and other frameworks of the web, on runtimes other than
 * Node, and by `.node` under Express or a server of `node:http`.
 *
 * @throws SurfaceError with a boot code, `INVALID_OPTION`.
 * @example
 * ```ts
 * const handler = httpHandler(app, { allowedHosts: ["ci.example"], auth });
 * hono.all("/mcp", (c) => handler(c.req.raw));
 * ```
 */
export function httpHandler(app: ServableApp, options: HttpHandlerOptions = {}): HttpHandler {
  if (typeof app?.open !== "function") {
    throw new SurfaceError("INVALID_OPTION", "Making an HTTP handler: its app must be made by mcp(), and be linked");
  }
  const resolved = resolveHandlerOptions(options);
  const runtime = app.open();
  const core = coreOf(runtime, resolved);
  const fetch = toFetch(core.serve);
  const { stallMs } = resolved;
  const connections = new Connections({
    clock: systemClock,
    stallMs,
    unread: core.budgets.unreadBytes,
    delaysAnswers: false,
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const sent = (): Promise<void> => connections.sent();
    await core.drain(resolved.drainMs, sent);
    await core.close(sent);
    await closeApp(runtime, core.running());
  };
  return Object.freeze(
    Object.assign((request: Request) => fetch(request), {
      fetch,
      node: toNodeListener(core.serve, connections),
      stats: core.stats,
      close: () => (closing ??= close()),
    }),
  );
}
