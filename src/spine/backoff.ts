import type { Clock, Random } from "./clock.ts";

/** Options of a {@link Backoff}. Times are in milliseconds. */
export interface BackoffOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Upper bound of the first delay. */
  readonly baseMs: number;
  /** Upper bound of every delay. */
  readonly capMs: number;
  /** After a success that lasted so long, the delays start again from the first. */
  readonly stableMs: number;
}

/** Delays between attempts: they double up to a cap, each shortened by up to a half at random, so that many clients do not return at once. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;
  #upSince: number | undefined;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Notes that an attempt has worked. */
  up(): void {
    this.#upSince = this.#options.clock.now();
  }

  /** Returns the delay before the next attempt. */
  next(): number {
    const { clock, random, baseMs, capMs, stableMs } = this.#options;
    if (this.#upSince !== undefined && clock.now() - this.#upSince >= stableMs) this.#failures = 0;
    this.#upSince = undefined;
    const longest = Math.min(capMs, baseMs * 2 ** this.#failures);
    if (longest < capMs) this.#failures += 1;
    return longest * (1 - random() / 2);
  }
}
