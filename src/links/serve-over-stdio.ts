import type { OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { scopeOf, type Served } from "../surface/implement-surfaces.ts";
import { heartbeat } from "./link-options.ts";
import type { Listening } from "./listening.ts";
import { guardStdout } from "./stdout-guard.ts";

/** What {@link serveOverStdio} may be told. */
export interface ServeOverStdioOptions {
  /** After how much silence the far side is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
}

const fields: OptionFields<ServeOverStdioOptions> = { heartbeatMs: heartbeat };

/**
 * Lets the process that started this one connect to a live surface, or to several, over standard input and output. Whatever else is
 * written to standard output goes to standard error from then on. It closes when the input ends; what the process does
 * then is its author's choice.
 *
 * @throws SurfaceError `CONTRADICTION` where standard output serves something else already, `CLOSED` for a live surface
 * that is closed, `INVALID_OPTION` for a first argument that is no live surface.
 * @example
 * ```ts
 * const listening = await serveOverStdio(live);
 * await listening.closed;
 * await live.close();
 * ```
 */
export async function serveOverStdio(live: Served, options: ServeOverStdioOptions = {}): Promise<Listening> {
  const read = readOptions(options, fields, "Serving a surface over stdio");
  scopeOf(live, "serve a surface over stdio").assertOpen();
  // At once: what is printed while the rest is loaded would stand before the first message.
  const guard = guardStdout();
  try {
    // Only who serves loads what it takes.
    const { openStdioServer } = await import("./stdio/open-stdio-server.ts");
    return await openStdioServer({ ...read, guard, live });
  } catch (cause) {
    guard.restore();
    throw cause;
  }
}
