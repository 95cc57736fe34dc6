import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { codeOf, SurfaceError } from "../../errors.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { Connection } from "../link.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { openWireClient, type WireClientOptions } from "../wire/open-wire-client.ts";

interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** Milliseconds from the end of its input until a process gets SIGTERM and SIGKILL: within the grace of this process itself. */
const terminateMs = 500;
const killMs = 1000;
/** Milliseconds to wait for the exit of a process whose output has ended, to report it. */
const explainMs = 2000;
/** Milliseconds that the output may stay open after the exit: a grandchild may hold it open. */
const outputMs = 200;

const living = new Set<ChildProcess>();

/** Runs on "exit", where nothing asynchronous runs any more. */
function killAll(): void {
  for (const child of living) child.kill("SIGKILL");
}

/** Kills a child that is left when this process exits. One listener serves all children. */
function endWithUs(child: ChildProcess): void {
  if (living.size === 0) process.on("exit", killAll);
  living.add(child);
  child.once("exit", () => {
    living.delete(child);
    if (living.size === 0) process.off("exit", killAll);
  });
}

/** A child process, which ends at the latest with this process. */
export class ManagedProcess {
  readonly #command: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly input: Readable;
  readonly output: Writable;
  #isStopping = false;

  constructor(command: string, child: ChildProcess, pipes: { readonly stdin: Writable; readonly stdout: Readable }) {
    this.#command = command;
    this.#child = child;
    this.input = pipes.stdout;
    this.output = pipes.stdin;
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => {
        systemClock.after(outputMs, () => pipes.stdout.destroy());
        resolve();
      });
    });
    child.on("error", () => {});
    // Without a process id it was not started, and never exits.
    if (child.pid !== undefined) endWithUs(child);
  }

  async explain(): Promise<SurfaceError | undefined> {
    await Promise.race([this.#exited, new Promise<void>((resolve) => systemClock.after(explainMs, resolve))]);
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    const how = signalCode === null ? `code ${exitCode}` : `signal "${signalCode}"`;
    return new SurfaceError("DISCONNECTED", `Cannot use the process "${this.#command}": it has ended with ${how}`);
  }

  /** Ends its input, then sends signals; resolves after the exit. Callable twice. */
  stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      this.output.end();
      const takeBack = systemClock.after(terminateMs, () => this.#child.kill("SIGTERM"));
      const takeLastBack = systemClock.after(killMs, () => this.#child.kill("SIGKILL"));
      void this.#exited.then(takeBack).then(takeLastBack);
    }
    return this.#exited;
  }
}

function toUnavailable(command: string, cause: unknown): SurfaceError {
  const message = `Cannot start "${command}": the system refused it with "${codeOf(cause)}"`;
  return new SurfaceError("UNAVAILABLE", message, { cause });
}

function forwardStderr(child: ChildProcess, onStderr: (text: string) => void): void {
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    try {
      onStderr(text);
    } catch {
      // A failing callback ends neither the connection nor this process.
    }
  });
}

/** Starts a process without a shell. The caller stops it. @throws SurfaceError `UNAVAILABLE` if the system refuses. */
export async function startProcess(options: SpawnOptions): Promise<ManagedProcess> {
  const { command, args, cwd, env, onStderr } = options;
  try {
    const stderr = onStderr === undefined ? "inherit" : "pipe";
    const child = spawn(command, [...args], {
      stdio: ["pipe", "pipe", stderr],
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    const { stdin, stdout } = child;
    // Both are pipes: the type of a spawn with a varying `stderr` does not say so.
    if (stdin === null || stdout === null) throw toUnavailable(command, undefined);
    const spawned = new ManagedProcess(command, child, { stdin, stdout });
    if (onStderr !== undefined) forwardStderr(child, onStderr);
    await once(child, "spawn");
    return spawned;
  } catch (cause) {
    throw toUnavailable(command, cause);
  }
}

/** Options of {@link openChildClient}. */
export interface ChildClientOptions extends SpawnOptions, Pick<WireClientOptions, "signal" | "heartbeatMs"> {}

/** Milliseconds that a process may take to start and answer, on a busy machine. */
const startMs = 10_000;

/** Starts a process and connects to it over its standard input and output. It ends with the connection. @throws as `childProcess()`. */
export async function openChildClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  options: ChildClientOptions,
): Promise<Connection<TSpec>> {
  const spawned = await startProcess(options);
  const { input, output } = spawned;
  const stop = (): void => void spawned.stop();
  const explain = (): Promise<SurfaceError | undefined> => spawned.explain();
  const transport = createStreamTransport({ input, output, end: stop, destroy: stop, explain });
  try {
    const connection = await openWireClient(surface, transport, { handshakeMs: startMs, ...options });
    const close = async (): Promise<void> => {
      await connection.close();
      await spawned.stop();
    };
    return Object.freeze({ ...connection, close });
  } catch (cause) {
    stop();
    throw cause;
  }
}
