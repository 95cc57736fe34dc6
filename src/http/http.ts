import { announce, inspector } from "../mcp/announce.ts";
import { onProcessEnd } from "../links/on-process-end.ts";
import type { ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import { Scope } from "../spine/scope.ts";
import { appClosingMs, closeApp, abortingMs, Core, type HttpStats } from "./core.ts";
import type { HttpOptions } from "./http-options.ts";
import { toAuthority } from "./addresses.ts";
import { readServer, type ResolvedServer, resolveServerOptions } from "./resolve-options.ts";

/** A running server. */
export interface HttpServing extends Serving {
  /** Where it is served. */
  readonly url: string;
  readonly port: number;
  /** What there is to do, and what it has come to. */
  stats(this: void): HttpStats;
  /**
   * Takes nothing new, ends every stream with what its client waits for, and lets what runs, and answers that are still being
   * read, come to their end for `drainMs`. Then it aborts what runs, a second later drops every connection, and closes the
   * app, for which it waits two more seconds at most: a handler that does not listen to its signal is reported by its name
   * and left alone. Callable twice.
   */
  close(): Promise<void>;
}

/** How long closing may take besides letting running requests come to their end, before the process exits all the same. */
const closingMs = abortingMs + appClosingMs + 500;

async function open(
  app: ServableApp,
  options: ResolvedServer,
  scope: Scope,
): Promise<Omit<HttpServing, "closed" | "close">> {
  const runtime = app.open();
  const closeRuntime = scope.add(() => runtime.close());
  const core = new Core(runtime, options);
  closeRuntime();
  scope.add(() => closeApp(runtime, core.running()));
  const closeCore = scope.add(() => core.close(async () => {}));
  // Only who listens loads what it takes.
  const { openServer } = await import("./node/open-server.ts");
  const server = await openServer(core.serve, options, core.budgets);
  // Connections last: what is aborted has an answer, too.
  closeCore();
  scope.add(() => server.close());
  scope.add(() => core.close(() => server.sent()));
  scope.add(() => core.drain(options.drainMs, () => server.sent()));
  scope.add(() => server.leave());
  const { port } = server;
  const url = `http://${toAuthority(options.host)}:${port}${options.path}`;
  const hint =
    options.auth === undefined
      ? `; look at it with: ${inspector} --cli ${url} --transport http --method tools/list`
      : "";
  // With tokens, what the anonymous caller sees says nothing about others.
  if (options.auth === undefined || process.stderr.isTTY) {
    announce({ runtime, served: `at ${url}${hint}`, isTerminal: process.stderr.isTTY });
  }
  return { url, port, stats: core.stats };
}

async function start(app: ServableApp, options: HttpOptions): Promise<HttpServing> {
  const resolved = resolveServerOptions(options);
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
    // Why it could not start is what its author has to hear, not what closing half of it came to.
    await scope.close().catch(() => {});
    throw cause;
  }
}

/**
 * Serves an app over Streamable HTTP, both eras of MCP, at `/mcp`. On SIGTERM or SIGINT it takes no more, ends every
 * stream with what its client waits for, lets what runs come to its end for at most `drainMs`, and exits with code 0.
 *
 * What others can reach is not served to whoever comes: a `host` that is not loopback needs `auth` and `allowedHosts`.
 *
 * Serving rejects with `INVALID_OPTION`; `SOCKET_IN_USE` where another process listens on the port, `UNAVAILABLE` for
 * whatever the system refuses, and what opening the app throws.
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
