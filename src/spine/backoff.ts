import type { Clock, Random } from "./clock.ts";

/** How delays between attempts grow. All in milliseconds. */
export interface BackoffSetting {
  readonly clock: Clock;
  readonly random: Random;
  /** The longest first delay. */
  readonly baseMs: number;
  /** No delay is longer. */
  readonly capMs: number;
  /** What has worked for this long has worked: the delays start again from the first. */
  readonly stableMs: number;
}

/**
 * Delays between attempts: doubling from the base to the cap, each shortened by up to a half at random, so that many who
 * lost the same thing at once do not come back at once.
 */
export class Backoff {
  readonly #setting: BackoffSetting;
  #failures = 0;
  #upSince: number | undefined;

  constructor(setting: BackoffSetting) {
    this.#setting = setting;
  }

  /** An attempt has worked. */
  up(): void {
    this.#upSince = this.#setting.clock.now();
  }

  /** How long to wait before the next attempt, now that the last one has failed or what it reached has ended. */
  next(): number {
    const { clock, random, baseMs, capMs, stableMs } = this.#setting;
    if (this.#upSince !== undefined && clock.now() - this.#upSince >= stableMs) this.#failures = 0;
    this.#upSince = undefined;
    const longest = Math.min(capMs, baseMs * 2 ** this.#failures);
    if (longest < capMs) this.#failures += 1;
    return longest * (1 - random() / 2);
  }
}
