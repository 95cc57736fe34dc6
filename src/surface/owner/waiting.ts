import { setImmediate } from "node:timers";
import { Backoff } from "../../spine/backoff.ts";
import type { Scope } from "../../spine/scope.ts";
import { followSignal } from "../../spine/signals.ts";
import { isThenable } from "../is-thenable.ts";
import { systemClock } from "../system-clock.ts";

/** Steps that a loop over an author's code takes before it calls {@link nextTurn}. Code that never waits would otherwise block the process. */
export const stepsPerTurn = 256;

/** Resolves after timers, input and the microtasks that are due have run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls `fn` with a value: at once, or when a promise or an author's thenable resolves with it. */
export function whenThere<TOut>(value: unknown, fn: (value: unknown) => TOut | Promise<TOut>): TOut | Promise<TOut> {
  return isThenable(value) ? Promise.resolve(value).then(fn) : fn(value);
}

/** Calls that wait for a change. */
export class WaitQueue {
  readonly #waiting = new Set<(failure?: { readonly cause: unknown }) => void>();

  wake(): void {
    for (const end of [...this.#waiting]) end();
  }

  fail(cause: unknown): void {
    for (const end of [...this.#waiting]) end({ cause });
  }

  /** Resolves at the next change, or when the signal fires. The caller then checks what has changed. */
  next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (failure?: { readonly cause: unknown }): void => {
        this.#waiting.delete(end);
        leave();
        if (failure === undefined) resolve();
        else reject(failure.cause);
      };
      this.#waiting.add(end);
      const leave = followSignal(signal, () => end());
    });
  }
}

/** Delays before a failed handler is started again, in milliseconds. */
const restart = { baseMs: 100, capMs: 5000, stableMs: 5000 } as const;

/** Starts a failed handler again, with a growing delay. Starts nothing, and leaves no timer, once the scope has closed. */
export class RestartBackoff {
  readonly #scope: Scope;
  readonly #start: () => void;
  readonly #backoff = new Backoff({ ...restart, clock: systemClock, random: Math.random });
  #cancel: () => void = () => {};

  constructor(scope: Scope, start: () => void) {
    this.#scope = scope;
    this.#start = start;
  }

  started(): void {
    this.#cancel();
    this.#backoff.up();
  }

  failed(): void {
    this.#cancel();
    if (this.#scope.closed) return;
    const stop = systemClock.after(this.#backoff.next(), () => {
      forget();
      this.#start();
    });
    const forget = this.#scope.add(stop);
    const cancel = (): void => {
      stop();
      forget();
    };
    this.#cancel = cancel;
  }

  /** Cancels a pending start. Callable twice. */
  cancel(): void {
    this.#cancel();
  }
}
