import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { SurfaceError } from "../../errors.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { codeOf } from "../system-error.ts";

/** What is started, and how. */
export interface SpawnSetting {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** How long after its input ended a process is told to end, and made to: well within what a face is given itself. */
const terminateMs = 500;
const killMs = 1000;
/** How long is waited for a process to end, to know why its output has. */
const explainMs = 2000;
/** How long the output may take to end once the process has: a process of its own may hold it open. */
const outputMs = 200;

const living = new Set<ChildProcess>();

/** Nothing asynchronous runs any more: there is no time left to ask. */
function endAll(): void {
  for (const child of living) child.kill("SIGKILL");
}

/**
 * Kills a process that is still there when this one exits: a face does so within the time that its host allows it, however
 * long what it has started takes to end. One listener serves all, and goes with the last of them.
 */
function endWithUs(child: ChildProcess): void {
  if (living.size === 0) process.on("exit", endAll);
  living.add(child);
  child.once("exit", () => {
    living.delete(child);
    if (living.size === 0) process.off("exit", endAll);
  });
}

/**
 * A process that was started, and that ends when it is told to: asked first, then told, then made to; at the latest with
 * this process.
 */
export class Spawned {
  readonly #command: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly input: Readable;
  readonly output: Writable;
  #isStopping = false;

  /** @param pipes - what it reads from us, what we read from it. */
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
    // Without one it was not started, and never tells an end.
    if (child.pid !== undefined) endWithUs(child);
  }

  /** Why it ended, where it does so soon. */
  async explain(): Promise<SurfaceError | undefined> {
    await Promise.race([this.#exited, new Promise<void>((resolve) => systemClock.after(explainMs, resolve))]);
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    const how = signalCode === null ? `code ${exitCode}` : `signal "${signalCode}"`;
    return new SurfaceError("DISCONNECTED", `Using the process "${this.#command}": it has ended with ${how}`);
  }

  /** Ends it, and resolves when it has ended. Callable twice. */
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
  return new SurfaceError("UNAVAILABLE", `Starting "${command}": the system refused it with "${codeOf(cause)}"`, {
    cause,
  });
}

function tellStderr(child: ChildProcess, tell: (text: string) => void): void {
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    try {
      tell(text);
    } catch {
      // What its author does with text for people is no reason to end a connection, or this process.
    }
  });
}

/**
 * Starts a process without a shell, its standard input and output in pipes. Whoever asked for it stops it.
 *
 * @throws SurfaceError `UNAVAILABLE` where the system refuses.
 */
export async function startProcess(setting: SpawnSetting): Promise<Spawned> {
  const { command, args, cwd, env, onStderr } = setting;
  try {
    const stderr = onStderr === undefined ? "inherit" : "pipe";
    const child = spawn(command, [...args], {
      stdio: ["pipe", "pipe", stderr],
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    const { stdin, stdout } = child;
    // Never with the pipes that were asked for; the compiler does not follow the third.
    if (stdin === null || stdout === null) throw toUnavailable(command, undefined);
    const spawned = new Spawned(command, child, { stdin, stdout });
    if (onStderr !== undefined) tellStderr(child, onStderr);
    await once(child, "spawn");
    return spawned;
  } catch (cause) {
    throw toUnavailable(command, cause);
  }
}
