import { SurfaceError } from "../../errors.ts";
import { internalError, reportToConsole, type FaultReporter } from "../../surface/fault.ts";
import type { Caller } from "../../surface/caller.ts";
import { createMemoryContext } from "./create-memory-context.ts";

/** What is known of a call when what its handler has of its own is made. */
export interface ContextCall {
  /** Fires when the caller cancels, the deadline passes or the face closes. Made only if asked for. */
  readonly signal: AbortSignal;
  /** Who asks. */
  readonly caller: Caller;
}

/** Makes what the handler of one call has of its own. */
export type ContextFactory<TContext = unknown> = (call: ContextCall) => TContext;

/** Where handlers have it from. */
export interface ContextSource {
  /** Left out: in memory, which nobody has to put away. */
  readonly make: ContextFactory | undefined;
  /** Told of what cannot be put away, and of what listens to memory and throws. */
  readonly report: FaultReporter;
}

const inMemory: ContextSource = Object.freeze({ make: undefined, report: reportToConsole });

const quiet = (): void => {};

/** Puts away what says how that is done. */
async function dispose(value: unknown): Promise<void> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
  const end: unknown = Reflect.get(value, Symbol.asyncDispose) ?? Reflect.get(value, Symbol.dispose);
  if (typeof end === "function") await Reflect.apply(end, value, []);
}

/** What an author's factory is told: of the call as little as that. */
function toContextCall(call: ContextCall): ContextCall {
  return Object.freeze({
    caller: call.caller,
    get signal() {
      return call.signal;
    },
  });
}

/** What the handler of one call has of its own: made when it is first asked for, and only then. Whoever made this ends it. */
export class OwnContext {
  readonly #call: ContextCall;
  readonly #source: ContextSource;
  #made: { readonly value: unknown } | undefined;
  /** What a promise that was made has come to. */
  #settled: { readonly value: unknown } | undefined;
  #isOver = false;

  constructor(call: ContextCall, source: ContextSource = inMemory) {
    this.#call = call;
    this.#source = source;
  }

  /**
   * The same each time that it is asked for.
   *
   * @throws SurfaceError `CLOSED` where the handler has ended and never asked for it; and what its author's factory throws.
   */
  get value(): unknown {
    this.#made ??= { value: this.#make() };
    return this.#made.value;
  }

  /** Runs a handler, and ends with it, before whoever waits for it is told. */
  during<TValue>(run: () => TValue): TValue | Promise<Awaited<TValue>> {
    // What is made in memory needs no end: most calls are spared the wait.
    return this.#source.make === undefined ? run() : this.#runAndEnd(run);
  }

  /**
   * Puts it away, if it was made, and what it has come to, where it is a promise: that later, where it has not settled yet, which
   * nobody waits for. A fault of that is reported, and is no matter of the caller's. Never rejects.
   */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // What settles from here on is put away when it does.
    const settled = this.#settled;
    await this.#putAway(this.#made?.value);
    await this.#putAway(settled?.value);
  }

  async #putAway(value: unknown): Promise<void> {
    try {
      await dispose(value);
    } catch (cause) {
      internalError(cause, "context of a call", this.#source.report);
    }
  }

  async #runAndEnd<TValue>(run: () => TValue): Promise<Awaited<TValue>> {
    try {
      return await run();
    } finally {
      await this.end();
    }
  }

  #make(): unknown {
    const { make, report } = this.#source;
    if (make === undefined) return createMemoryContext({ report });
    if (this.#isOver) throw new SurfaceError("CLOSED", "Using the context of a call: the call is over");
    const value = make(toContextCall(this.#call));
    // A promise is what its author wanted, who may look at it later or not at all.
    if (value instanceof Promise) void value.then((settled) => this.#settle(settled), quiet);
    return value;
  }

  #settle(value: unknown): void {
    this.#settled = { value };
    if (this.#isOver) void this.#putAway(value);
  }
}
