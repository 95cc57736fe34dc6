import { SurfaceError } from "../../errors.ts";
import { isObjectOrFunction } from "../../options/is-object.ts";
import { internalError, reportToConsole, type FaultReporter } from "../../surface/fault.ts";
import type { Caller } from "../../surface/caller.ts";
import { createMemoryContext } from "./memory-context.ts";

/** The call for which a context is created. */
export interface ContextCall {
  /** Fires when the caller cancels, the deadline passes or the app closes. Created on first use. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
}

/** Creates the context of one call. */
export type ContextFactory<TContext = unknown> = (call: ContextCall) => TContext;

/** The source of contexts. */
export interface ContextSource {
  /** The author's factory; `undefined` for contexts in memory, which need no disposal. */
  readonly make: ContextFactory | undefined;
  /** Receives errors of disposal, and of listeners in memory. */
  readonly report: FaultReporter;
}

const inMemory: ContextSource = Object.freeze({ make: undefined, report: reportToConsole });

/** Disposes a value that has `Symbol.asyncDispose` or `Symbol.dispose`. */
async function dispose(value: unknown): Promise<void> {
  if (!isObjectOrFunction(value)) return;
  const end: unknown = Reflect.get(value, Symbol.asyncDispose) ?? Reflect.get(value, Symbol.dispose);
  if (typeof end === "function") await Reflect.apply(end, value, []);
}

/** Returns the part of a call that an author's factory receives. */
function toContextCall(call: ContextCall): ContextCall {
  return Object.freeze({
    caller: call.caller,
    get signal() {
      return call.signal;
    },
  });
}

/** The context of one call, created at first use. Call {@link end} when the handler is done. */
export class OwnContext {
  readonly #call: ContextCall;
  readonly #source: ContextSource;
  #made: { readonly value: unknown } | undefined;
  /** The value of a promise that the factory returned. */
  #settled: { readonly value: unknown } | undefined;
  #isOver = false;

  constructor(call: ContextCall, source: ContextSource = inMemory) {
    this.#call = call;
    this.#source = source;
  }

  /** @throws SurfaceError `CLOSED` at a first use after the handler has ended; and the error of the factory. */
  get value(): unknown {
    this.#made ??= { value: this.#make() };
    return this.#made.value;
  }

  /** Runs a handler, and disposes the context before the result is returned. */
  async during<TValue>(run: () => TValue): Promise<Awaited<TValue>> {
    try {
      return await run();
    } finally {
      await this.end();
    }
  }

  /** Disposes the context, if it was created. The value of a promise is disposed when it settles. Reports errors; never rejects. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // `#settle` disposes a value that comes later.
    const settled = this.#settled;
    await this.#dispose(this.#made?.value);
    await this.#dispose(settled?.value);
  }

  async #dispose(value: unknown): Promise<void> {
    try {
      await dispose(value);
    } catch (cause) {
      internalError(cause, "context of a call", this.#source.report);
    }
  }

  #make(): unknown {
    const { make, report } = this.#source;
    if (make === undefined) return createMemoryContext({ report });
    if (this.#isOver) throw new SurfaceError("CLOSED", "Cannot create the context of a call: the call is over");
    const value = make(toContextCall(this.#call));
    // The handler receives the promise itself, and may never await it.
    if (value instanceof Promise)
      void value.then(
        (settled) => this.#settle(settled),
        () => {},
      );
    return value;
  }

  #settle(value: unknown): void {
    this.#settled = { value };
    if (this.#isOver) void this.#dispose(value);
  }
}
