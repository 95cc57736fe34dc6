import type { Readable } from "node:stream";
import { SurfaceError } from "../errors.ts";

/** Why a process that serves ends. `asked` is {@link ProcessEnd.stop} without a reason. */
export type EndReason = "input-ended" | "output-broken" | "asked" | NodeJS.Signals;

/** What {@link onProcessEnd} watches and does. */
export interface ProcessEndOptions {
  /**
   * Where requests come from; its `end`, `close` or `error` is the host's goodbye. Somebody else must read it. Left out:
   * whoever asks comes by other ways, and signals alone say goodbye.
   */
  readonly input?: Readable;
  /** Signals that mean the same. Default: SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Closes everything owned. Called once at most, with the first reason. A failure goes to standard error. */
  end(reason: EndReason): Promise<void> | void;
  /**
   * How long `end` may take, in milliseconds. Default 1,500. At least 0 and, with an input, at most 2,000, else
   * `INVALID_OPTION`.
   */
  readonly graceMs?: number;
  /** Whether this process is ours to end. When false, `end` runs and the process lives on. */
  readonly exit: boolean;
}

/** The watch over the end of the process. */
export interface ProcessEnd {
  /** Ends now. Settles when `end` has, or after the grace; never rejects, and does not settle when the process exits. */
  stop(reason?: EndReason): Promise<void>;
  /** Stops listening; nothing is ended. May be called twice. An end that is under way goes on. */
  dispose(): void;
}

/** Hosts kill two seconds after they close standard input: the rest is for the process itself to be gone by then. */
const GRACE_MS = 1_500;
const MOST_GRACE_MS = 2_000;
/** Longer times make a timer fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
/** 128 and the number of SIGINT: what a shell reports for a process that Ctrl-C ended. */
const INTERRUPTED = 130;

/**
 * Runs `end` once when the input ends, a signal arrives or somebody asks; then, with `exit`, exits with code 0, at the
 * latest after the grace, whatever timers, sockets or promises are still open. A second SIGINT exits at once with
 * code 130. docs/decisions/0005 says why a library may do that here and nowhere else.
 *
 * Several in one process end together: the process exits once the last of those that may end it has closed what it owns.
 *
 * The caller owns the watch and calls `dispose()`; with `exit: false` it disposes of itself once it has ended.
 */
export function onProcessEnd(options: ProcessEndOptions): ProcessEnd {
  return new ProcessEndWatch(options);
}

/** Who listens to which signal. One listener of the process' own is enough for however many servers it has. */
const listening = new Map<NodeJS.Signals, Set<(signal: NodeJS.Signals) => void>>();

function tell(signal: NodeJS.Signals): void {
  for (const listener of [...(listening.get(signal) ?? [])]) listener(signal);
}

function listen(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): () => void {
  const listeners = listening.get(signal) ?? new Set();
  if (listeners.size === 0) process.on(signal, tell);
  listening.set(signal, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || !listening.delete(signal)) return;
    process.off(signal, tell);
  };
}

/** Those that may end the process, and have not closed what they own. */
const owners = new Set<ProcessEndWatch>();

class ProcessEndWatch implements ProcessEnd {
  readonly #options: ProcessEndOptions;
  readonly #graceMs: number;
  readonly #undo: (() => void)[] = [];
  #ended: Promise<void> | undefined;
  #interrupts = 0;

  constructor(options: ProcessEndOptions) {
    this.#options = options;
    this.#graceMs = toGrace(options);
    const { input, signals = ["SIGTERM", "SIGINT"] } = options;
    for (const signal of signals) this.#undo.push(listen(signal, this.#onSignal));
    if (options.exit) owners.add(this);
    if (input === undefined) return;
    for (const event of ["end", "close", "error"]) this.#follow(input, event, this.#onInputEnded);
    // A stream says that it has ended once only, and not to those who come late.
    if (input.readableEnded || input.destroyed) queueMicrotask(this.#onLateEnd);
  }

  stop(reason: EndReason = "asked"): Promise<void> {
    // Not at once: `end` may break what then calls stop() again, which must find the end under way.
    this.#ended ??= Promise.resolve(reason).then(this.#run);
    return this.#ended;
  }

  dispose(): void {
    for (const undo of this.#undo.splice(0)) undo();
    if (this.#ended === undefined) owners.delete(this);
  }

  readonly #run = async (reason: EndReason): Promise<void> => {
    // The process ends as a whole: what else it serves is closed in good order, too.
    if (this.#options.exit) for (const owner of owners) void owner.stop(reason);
    await within(this.#graceMs, this.#end(reason));
    if (this.#options.exit) return this.#exit();
    this.dispose();
  };

  /** The last one out shuts the door. */
  #exit(): void | Promise<never> {
    owners.delete(this);
    // oxlint-disable-next-line unicorn/no-process-exit -- decision 0005: what serves owns its process
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
    // oxlint-disable-next-line unicorn/no-process-exit -- decision 0005: what serves owns its process
    if (this.#interrupts > 1 && this.#options.exit) process.exit(INTERRUPTED);
    void this.stop(signal);
  };

  #follow(emitter: NodeJS.EventEmitter, event: string, listener: () => void): void {
    emitter.on(event, listener);
    this.#undo.push(() => emitter.off(event, listener));
  }
}

/** Settles with the promise or after the time; the timer keeps the process alive, or an empty loop would end it early. */
async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

function toGrace({ input, graceMs = GRACE_MS }: ProcessEndOptions): number {
  const most = input === undefined ? LONGEST_MS : MOST_GRACE_MS;
  if (graceMs >= 0 && graceMs <= most) return graceMs;
  throw new SurfaceError("INVALID_OPTION", `Watch the process: "graceMs" is "${graceMs}", it must be 0 to ${most}`);
}
