import { callable, option, text, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { isRecord } from "../options/is-object.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { heartbeat } from "./link-options.ts";
import type { Connection, Link } from "./link.ts";

/** What {@link childProcess} may be told. */
export interface ChildProcessOptions {
  /** Where it runs. Default: where this process does. */
  readonly cwd?: string;
  /** Its whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives what it writes to standard error. Default: that goes where this process's own does. */
  readonly onStderr?: (text: string) => void;
  /** After how much silence it is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
}

const fields: OptionFields<ChildProcessOptions> = {
  cwd: text,
  env: option("an object", isRecord),
  onStderr: callable,
  heartbeatMs: heartbeat,
};

/**
 * A link to a live surface that a process serves with `serveOverStdio()`. Each connection starts the process, without a
 * shell, and ends it: its input is closed, half a second later it gets SIGTERM, after another half SIGKILL. What is left
 * when this process exits is killed with it.
 *
 * @throws SurfaceError, from `connect()`: `UNAVAILABLE` where it cannot be started or ends before it answers,
 * `PROTOCOL_MISMATCH` where it says something else, `UNKNOWN_MEMBER` for a surface of another name, `ABORTED` when its
 * signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(childProcess("node", ["counter.js"]));
 * await app.serve();
 * ```
 */
export function childProcess(command: string, args: readonly string[] = [], options: ChildProcessOptions = {}): Link {
  const read = readOptions(options, fields, "Making a link to a process");
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Only who connects loads what it takes.
      const { openChildClient } = await import("./stdio/open-child-client.ts");
      return openChildClient(surface, { ...read, command, args, signal: use.signal });
    },
  });
}
