import { isRecord } from "../options/is-object.ts";
import { callable, option, text, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import { scopeOf, type Served } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { heartbeat } from "./link-options.ts";
import type { Connection, Link } from "./link.ts";
import type { Listening } from "./listening.ts";
import { guardStdout } from "./stdout-guard.ts";

/** Options of {@link childProcess}. */
export interface ChildProcessOptions {
  /** The working directory. @default that of this process */
  readonly cwd?: string;
  /** The whole environment. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives the standard error of the process. @default that of this process */
  readonly onStderr?: (text: string) => void;
  /** Milliseconds of silence after which the process is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
}

const linkFields: OptionFields<ChildProcessOptions> = {
  cwd: text,
  env: option("an object", isRecord),
  onStderr: callable,
  heartbeatMs: heartbeat,
};

/**
 * Creates a link to a live surface that a process serves with `serveOverStdio()`. Each connection starts the process, without a shell, and
 * ends it: it closes the input, sends SIGTERM half a second later, and SIGKILL after another half. When this process exits, it kills the
 * processes that are left.
 *
 * @throws SurfaceError from `connect()`: `UNAVAILABLE` if the process cannot be started or ends before it answers, `PROTOCOL_MISMATCH` if
 * it speaks another protocol, `UNKNOWN_MEMBER` for a surface of another name, `ABORTED` when its signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(childProcess("node", ["counter.js"]));
 * await app.serve();
 * ```
 */
export function childProcess(command: string, args: readonly string[] = [], options: ChildProcessOptions = {}): Link {
  const read = readOptions(options, linkFields, "Cannot make a link to a process");
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Loaded by the first connection only.
      const { openChildClient } = await import("./stdio/open-child-client.ts");
      return openChildClient(surface, { ...read, command, args, signal: use.signal });
    },
  });
}

/** Options of {@link serveOverStdio}. */
export interface ServeOverStdioOptions {
  /** Milliseconds of silence after which the far side is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
}

const serverFields: OptionFields<ServeOverStdioOptions> = { heartbeatMs: heartbeat };

/**
 * Serves one or several live surfaces to the parent process over standard input and output. All other writes to standard output
 * go to standard error from then on. It closes when the input ends, and does not end the process.
 *
 * @throws SurfaceError `CONTRADICTION` if standard output is in use already, `CLOSED` for a live surface that is closed.
 * @example
 * ```ts
 * const listening = await serveOverStdio(live);
 * await listening.closed;
 * await live.close();
 * ```
 */
export async function serveOverStdio(live: Served, options: ServeOverStdioOptions = {}): Promise<Listening> {
  const read = readOptions(options, serverFields, "Cannot serve a surface over stdio");
  scopeOf(live, "serve a surface over stdio").assertOpen();
  // Before the import: text printed meanwhile would precede the first message.
  const guard = guardStdout();
  try {
    // Loaded by the first server only.
    const { openStdioServer } = await import("./stdio/open-stdio-server.ts");
    return await openStdioServer({ ...read, guard, live });
  } catch (cause) {
    guard.restore();
    throw cause;
  }
}
