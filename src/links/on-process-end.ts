import type { Readable } from "node:stream";
import { SurfaceError } from "../errors.ts";
import { withTimeout } from "../surface/system-clock.ts";

/** The reason of the end of a serving process. `asked` is {@link ProcessEnd.stop} without a reason. */
export type EndReason = "input-ended" | "output-broken" | "asked" | NodeJS.Signals;

/** Options of {@link onProcessEnd}. */
export interface ProcessEndOptions {
  /** The stream of requests, which the caller reads; its `end`, `close` or `error` is the goodbye of the host. @default only signals */
  readonly input?: Readable;
  /** Closes the server. Called at most once, with the first reason. A failure goes to standard error. */
  end(reason: EndReason): Promise<void> | void;
  /** Milliseconds that `end` may take, at most 2,000 with an input. Other numbers throw `INVALID_OPTION`. @default 1_500 */
  readonly graceMs?: number;
  /** Whether to exit the process after `end`. */
  readonly exit: boolean;
}

/** A watch over the end of the process. */
export interface ProcessEnd {
  /** Ends now. Resolves after `end` or the grace, and never if the process exits. Never rejects. */
  stop(reason?: EndReason): Promise<void>;
  /** Stops listening, and ends nothing. An end under way goes on. Callable twice. */
  dispose(): void;
}

/** Hosts kill a process two seconds after they close its standard input. The process itself needs the rest to exit. */
const graceMs = 1_500;
const maxGraceMs = 2_000;
/** A timer with a longer time fires at once. */
const maxTimerMs = 2 ** 31 - 1;
/** The exit code after Ctrl-C, by the convention of shells: 128 and the number of SIGINT. */
const interruptedCode = 130;

/**
 * Runs `end` once, when the input ends, a signal arrives or `stop()` is called. With `exit` the process then exits with code 0, at the
 * latest after the grace, once all watches with `exit` have ended; a second SIGINT exits at once with code 130 (decision 0005).
 * The caller calls `dispose()`. With `exit: false` the watch disposes of itself after its end.
 */
export function onProcessEnd(options: ProcessEndOptions): ProcessEnd {
  return new ProcessEndWatch(options);
}

/** The listeners of each signal. The process has one listener a signal for all servers. */
const listenersOf = new Map<NodeJS.Signals, Set<(signal: NodeJS.Signals) => void>>();

function emit(signal: NodeJS.Signals): void {
  for (const listener of [...(listenersOf.get(signal) ?? [])]) listener(signal);
}

function listen(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): () => void {
  const listeners = listenersOf.get(signal) ?? new Set();
  if (listeners.size === 0) process.on(signal, emit);
  listenersOf.set(signal, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || !listenersOf.delete(signal)) return;
    process.off(signal, emit);
  };
}

/** The watches with `exit` that have not ended. */
const owners = new Set<ProcessEndWatch>();

class ProcessEndWatch implements ProcessEnd {
  readonly #options: ProcessEndOptions;
  readonly #graceMs: number;
  readonly #undo: (() => void)[] = [];
  #ended: Promise<void> | undefined;
  #interrupts = 0;

  constructor(options: ProcessEndOptions) {
    this.#options = options;
    this.#graceMs = readGrace(options);
    const { input } = options;
    for (const signal of ["SIGTERM", "SIGINT"] as const) this.#undo.push(listen(signal, this.#onSignal));
    if (options.exit) owners.add(this);
    if (input === undefined) return;
    for (const event of ["end", "close", "error"]) {
      input.on(event, this.#onInputEnded);
      this.#undo.push(() => input.off(event, this.#onInputEnded));
    }
    // A stream emits its end only once: a later listener does not get it.
    if (input.readableEnded || input.destroyed) queueMicrotask(this.#onLateEnd);
  }

  stop(reason: EndReason = "asked"): Promise<void> {
    // In a later microtask: `end` may call stop() again, which must find the end under way.
    this.#ended ??= Promise.resolve(reason).then(this.#run);
    return this.#ended;
  }

  dispose(): void {
    for (const undo of this.#undo.splice(0)) undo();
    if (this.#ended === undefined) owners.delete(this);
  }

  readonly #run = async (reason: EndReason): Promise<void> => {
    // The process ends as a whole: its other servers are closed in good order, too.
    if (this.#options.exit) for (const owner of owners) void owner.stop(reason);
    await withTimeout(this.#end(reason), this.#graceMs, "Cannot close").catch(() => {});
    if (this.#options.exit) return this.#exit();
    this.dispose();
  };

  /** Exits the process, if no other watch is left. */
  #exit(): void | Promise<never> {
    owners.delete(this);
    // oxlint-disable-next-line unicorn/no-process-exit -- decision 0005: a stdio server owns its process
    if (owners.size === 0) process.exit(0);
    return new Promise(() => {});
  }

  async #end(reason: EndReason): Promise<void> {
    try {
      await this.#options.end(reason);
    } catch (error) {
      process.stderr.write(`surface-mcp: closing failed: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
  }

  readonly #onLateEnd = (): void => {
    const isWatching = this.#undo.length > 0;
    if (isWatching) this.#onInputEnded();
  };

  readonly #onInputEnded = (): void => void this.stop("input-ended");

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (signal === "SIGINT") this.#interrupts += 1;
    // oxlint-disable-next-line unicorn/no-process-exit -- decision 0005: a stdio server owns its process
    if (this.#interrupts > 1 && this.#options.exit) process.exit(interruptedCode);
    void this.stop(signal);
  };
}

function readGrace({ input, graceMs: given = graceMs }: ProcessEndOptions): number {
  const most = input === undefined ? maxTimerMs : maxGraceMs;
  if (given >= 0 && given <= most) return given;
  throw new SurfaceError("INVALID_OPTION", `Cannot watch the process: "graceMs" is "${given}"; use 0 to ${most}`);
}
