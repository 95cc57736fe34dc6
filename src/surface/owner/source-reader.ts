import { SurfaceError } from "../../errors.ts";
import { isFunction } from "../../options/is-object.ts";
import { LinkedAbort, untilAborted } from "../../spine/signals.ts";
import type { Scope } from "../../spine/scope.ts";
import type { OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import { maskFault, onRejection, runUnawaited } from "../fault.ts";
import { isThenable } from "../is-thenable.ts";
import type { SourceUse } from "../source.ts";
import { FirstFaults } from "./first-faults.ts";

/**
 * Subscribes to a source. Masks what the author's code throws or rejects with, in `subscribe` and in the function that stops it. A
 * source that returns no such function is a fault, since nothing could end its subscription.
 */
export function subscribeMasked(check: OutputCheck, subscribe: () => unknown): () => void {
  const mask = (cause: unknown): Error => maskFault(cause, check.where, check.report);
  let stop: unknown;
  try {
    stop = subscribe();
  } catch (cause) {
    throw mask(cause);
  }
  if (!isFunction(stop)) {
    onRejection(stop, mask);
    throw mask(new SurfaceError("INTERNAL", `Subscribing to ${check.where}: subscribe() must return what stops it`));
  }
  const end = stop;
  return () => runUnawaited(end, mask);
}

/** Calls a source; returns its value or a promise of it. */
export type ReadSource = (use: SourceUse) => unknown;

/** The context of one read. Its signal is made only if the source asks for it. */
class OneRead implements SourceUse {
  readonly #use: UseOptions;
  readonly #scope: Scope;
  #linked: LinkedAbort | undefined;
  #isOver = false;

  constructor(use: UseOptions, scope: Scope) {
    this.#use = use;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    // After its end, nothing would let go of the other signals.
    this.#linked ??= this.#isOver ? new LinkedAbort() : new LinkedAbort(this.#use.signal, this.#scope.signal);
    return this.#linked.signal;
  }

  end(): void {
    this.#isOver = true;
    this.#linked?.dispose();
  }
}

/** Applies `fn` to a value, at once if it is there. */
export function whenThere<TOut>(value: unknown, fn: (value: unknown) => TOut): TOut | Promise<TOut> {
  return isThenable(value) ? Promise.resolve(value).then(fn) : fn(value);
}

const ignore = (): void => {};

/**
 * Reads a source, whether it answers at once or later. A read that is under way ends for its reader when the reader leaves
 * or the surface closes; `close()` waits until the source has settled.
 */
export class SourceReader {
  readonly #scope: Scope;
  readonly #check: OutputCheck;
  readonly #faults: FirstFaults;
  #isAsync: boolean | undefined;

  constructor(scope: Scope, check: OutputCheck) {
    this.#scope = scope;
    this.#check = check;
    this.#faults = new FirstFaults(check);
  }

  /** Whether the source answers by a promise. Reads it once if it has not been read yet. */
  answersLater(run: ReadSource): boolean {
    if (this.#isAsync === undefined) {
      // Its outcome is for those who read the source next.
      try {
        onRejection(this.readRaw({}, run), ignore);
      } catch {
        // As above.
      }
    }
    return this.#isAsync === true;
  }

  /** Returns the raw value, or a promise of it where the source gives one. @throws the error for the reader, masked. */
  read(use: UseOptions, run: ReadSource): unknown {
    let answer: unknown;
    try {
      answer = this.readRaw(use, run);
    } catch (cause) {
      throw maskFault(cause, this.#check.where, this.#check.report);
    }
    return isThenable(answer) ? this.#masked(answer) : answer;
  }

  /** {@link read}, which throws what the source throws. */
  readRaw(use: UseOptions, run: ReadSource): unknown {
    const read = new OneRead(use, this.#scope);
    let answer: unknown;
    try {
      answer = run(read);
    } catch (cause) {
      read.end();
      throw cause;
    }
    if (isThenable(answer)) {
      this.#isAsync = true;
      return this.#settle(answer, read);
    }
    this.#isAsync ??= false;
    read.end();
    return answer;
  }

  async #settle(answer: PromiseLike<unknown>, read: OneRead): Promise<unknown> {
    const work = Promise.resolve(answer);
    const forget = this.#scope.add(() => work.then(ignore, ignore));
    work.then(forget, forget);
    try {
      return await untilAborted({ start: () => work, signal: read.signal, doing: `Reading ${this.#check.where}` });
    } finally {
      read.end();
    }
  }

  async #masked(answer: PromiseLike<unknown>): Promise<unknown> {
    try {
      const value = await answer;
      this.#faults.clear();
      return value;
    } catch (cause) {
      throw this.#faults.mask(cause);
    }
  }
}
