import type { IncomingMessage, ServerResponse } from "node:http";
import { SurfaceError } from "../errors.ts";
import { onProcessEnd } from "../links/on-process-end.ts";
import { announce, inspector as inspectorCommand } from "../mcp/announce.ts";
import type { AppRuntime, ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { Scope } from "../spine/scope.ts";
import { internalError } from "../surface/fault.ts";
import { systemClock } from "../surface/system-clock.ts";
import { toAuthority } from "./addresses.ts";
import { abortingMs, appClosingMs, closeApp, HttpCore, type HttpStats } from "./core.ts";
import { readListen } from "./inspector/inspector-options.ts";
import { Connections } from "./node/connections.ts";
import { createNodeListener } from "./node/node-request.ts";
import {
  type HttpHandlerOptions,
  type HttpOptions,
  readServer,
  type ResolvedHandler,
  type ResolvedServer,
  resolveHandlerOptions,
  resolveServerOptions,
} from "./options.ts";
import { startingChannel } from "./starting.ts";
import { createFetchHandler } from "./web.ts";

/** The live page of a running server. */
export interface ServedPage {
  /** Its address, which needs the cookie that a link sets. */
  readonly url: string;
  /** Creates a link that opens the page in one browser, once. The last 16 unused links work. */
  link(this: void): string;
}

/** A running server. */
export interface HttpServing extends Serving {
  /** URL of the MCP endpoint. */
  readonly url: string;
  readonly port: number;
  /** The live page. Left out without the option `inspector`. */
  readonly inspector?: ServedPage;
  /** Returns the state of the server, and what it has counted. */
  stats(this: void): HttpStats;
  /**
   * Accepts no new requests, and ends every stream with its result. Running requests, and answers that clients still read, have
   * `drainMs` to end. Then it aborts running handlers, drops every connection a second later, and closes the app, for which it
   * waits at most two more seconds. It reports the name of a handler that ignores its signal, and leaves it running. Callable twice.
   */
  close(): Promise<void>;
}

/** Longest time to close after the drain, in milliseconds. Then the process exits all the same. */
const closingMs = abortingMs + appClosingMs + 500;

/** Opens the live page of a server that has one. It stays open while the server drains. */
async function openPage(
  app: ServableApp,
  { inspector }: ResolvedServer,
  scope: Scope,
): Promise<ServedPage | undefined> {
  if (inspector === false) return undefined;
  const read = readListen(inspector === true ? {} : inspector);
  // Loaded only by servers that have the page.
  const { openInspectorServer } = await import("./inspector/serve-inspector.ts");
  const { url, link, close } = await openInspectorServer(app, read);
  scope.add(close);
  return Object.freeze({ url, link });
}

async function open(
  app: ServableApp,
  options: ResolvedServer,
  scope: Scope,
): Promise<Omit<HttpServing, "closed" | "close">> {
  const runtime = app.open();
  const closeRuntime = scope.add(() => runtime.close());
  const core = new HttpCore(runtime, options);
  closeRuntime();
  scope.add(() => closeApp(runtime, core.running()));
  const closeCore = scope.add(() => core.close(async () => {}));
  await core.ready;
  const page = await openPage(app, options, scope);
  // Loaded only by servers that listen.
  const { openServer } = await import("./node/open-server.ts");
  const server = await openServer(core.serve, options, core.budgets);
  // Connections last, so that aborted calls are answered.
  closeCore();
  scope.add(() => server.close());
  scope.add(() => core.close(() => server.sent()));
  scope.add(() => core.drain(options.drainMs, () => server.sent()));
  scope.add(() => server.leave());
  const { port } = server;
  const url = `http://${toAuthority(options.host)}:${port}${options.path}`;
  const hint =
    options.auth === undefined
      ? `; look at it with: ${inspectorCommand} --cli ${url} --transport http --method tools/list`
      : `; access tokens need the scope "${runtime.scopes.read}" to read, and "${runtime.scopes.write}" to change anything`;
  // With tokens, the view of the anonymous caller says nothing about other callers.
  if (options.auth === undefined || process.stderr.isTTY) {
    announce({ runtime, served: `at ${url}${hint}`, isTerminal: process.stderr.isTTY });
  }
  if (page === undefined) return { url, port, stats: core.stats };
  // Also into a log file: a link is the only way to the page.
  const line = `${runtime.info.name}: live page at ${page.link()} (opens once)`;
  process.stderr.write(`${escapeInvisible(line)}\n`);
  return { url, port, stats: core.stats, inspector: page };
}

async function start(app: ServableApp, options: HttpOptions): Promise<HttpServing> {
  const resolved = resolveServerOptions(options);
  startingChannel.publish(undefined);
  const scope = new Scope("the HTTP server");
  const closed = new Promise<void>((tell) => scope.add(tell));
  try {
    const more = await open(app, resolved, scope);
    if (resolved.exit) {
      const graceMs = Math.min(resolved.drainMs + closingMs, 2 ** 31 - 1);
      const end = onProcessEnd({ exit: true, graceMs, end: () => scope.close() });
      void closed.then(() => end.dispose());
    }
    return Object.freeze({ ...more, closed, close: () => scope.close() });
  } catch (cause) {
    // The author needs the reason of the failed start, not that of a failed close.
    await scope.close().catch(() => {});
    throw cause;
  }
}

/**
 * Serves an app over Streamable HTTP at `/mcp`, to clients of every protocol version. On SIGTERM or SIGINT it closes as
 * {@link HttpServing.close} does, and exits with code 0.
 *
 * A `host` that other machines can reach needs `auth` and `allowedHosts`.
 *
 * Serving rejects with `INVALID_OPTION`, `SOCKET_IN_USE` if another process listens on the port, `UNAVAILABLE` if the system
 * refuses the port, and the errors of opening the app.
 *
 * @example
 * ```ts
 * const serving = await app.serve(http({ port: 4000 }));
 * ```
 */
export function http(options: HttpOptions = {}): ServeTarget<HttpServing> {
  const read = readServer(options);
  return { serve: (app) => start(app, read) };
}

/** An open app, for frameworks and runtimes with their own server. Call `close()` when done. */
export interface HttpHandler {
  /**
   * Answers a web `Request`. Never rejects.
   *
   * @throws SurfaceError `INVALID_OPTION`, at once, for any other argument: pass `node` to Express and `node:http`.
   */
  (request: Request): Promise<Response>;
  /** The same function, for runtimes that expect an object with this method. */
  fetch(this: void, request: Request): Promise<Response>;
  /**
   * Answers a request of `node:http`, and of Express, over HTTP/1.1. Refuses requests of `node:http2`, which share a connection:
   * serve those by `fetch`. Mount it before body parsers: this handler takes a body that was read before as they have parsed it,
   * without the bound on its size.
   */
  node(this: void, request: IncomingMessage, response: ServerResponse): void;
  /** Returns the state of the server, and what it has counted. */
  stats(this: void): HttpStats;
  /** Closes as {@link HttpServing.close} does, except for the connections, which belong to their server. Callable twice. */
  close(this: void): Promise<void>;
}

function createCore(runtime: AppRuntime, options: ResolvedHandler): HttpCore {
  try {
    return new HttpCore(runtime, options);
  } catch (cause) {
    void runtime.close().catch(() => {});
    throw cause;
  }
}

/**
 * Opens an app and creates the function that answers its requests: for Hono and other web frameworks, for runtimes other than
 * Node, and by `.node` for Express and servers of `node:http`.
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
    throw new SurfaceError(
      "INVALID_OPTION",
      "Cannot create an HTTP handler: its app must be made by mcp(), and linked",
    );
  }
  const resolved = resolveHandlerOptions(options);
  const runtime = app.open();
  const core = createCore(runtime, resolved);
  core.ready.catch((cause: unknown) => void internalError(cause, "the cluster", runtime.report));
  const fetch = createFetchHandler(core.serve);
  const connections = new Connections({
    clock: systemClock,
    stallMs: resolved.stallMs,
    unread: core.budgets.unreadBytes,
    delaysAnswers: false,
  });
  const sent = (): Promise<void> => connections.sent();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await core.drain(resolved.drainMs, sent);
    await core.close(sent);
    await closeApp(runtime, core.running());
  };
  return Object.freeze(
    Object.assign((request: Request) => fetch(request), {
      fetch,
      node: createNodeListener(core.serve, connections),
      stats: core.stats,
      close: () => (closing ??= close()),
    }),
  );
}
