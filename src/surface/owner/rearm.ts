import { Backoff } from "../../spine/backoff.ts";
import type { Scope } from "../../spine/scope.ts";
import { systemClock } from "../system-clock.ts";

/** Delays before a handler that failed is started again, in milliseconds. */
export const rearm = { baseMs: 100, capMs: 5000, stableMs: 5000 } as const;

/**
 * Starts again what has failed, after a while that grows with each failure in a row. Nothing is started once the scope
 * has closed, and no timer is left.
 */
export class Rearm {
  readonly #scope: Scope;
  readonly #start: () => void;
  readonly #backoff = new Backoff({ ...rearm, clock: systemClock, random: Math.random });
  #cancel: () => void = () => {};

  constructor(scope: Scope, start: () => void) {
    this.#scope = scope;
    this.#start = start;
  }

  /** It runs: whoever started it, nothing is to be started now. */
  started(): void {
    this.#cancel();
    this.#backoff.up();
  }

  /** It has failed. */
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

  /** It is not to be started again. Callable twice. */
  cancel(): void {
    this.#cancel();
  }
}
