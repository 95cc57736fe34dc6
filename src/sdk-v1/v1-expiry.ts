import type { Clock } from "../spine/clock.ts";

/** The longest that a timer of Node's can wait: what is longer runs at once. */
const longestMs = 2 ** 31 - 1;

/**
 * Knows whether whoever asked last is still who they were. A connection of the SDK 1.x outlives their token: nothing is told on
 * it from then on, until they ask by another. Whoever made it ends it.
 */
export class V1Expiry {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #expiresAt: number | undefined;
  #stopTimer: (() => void) | undefined;
  #isExpired = false;

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Whether they are nobody any more. */
  get isExpired(): boolean {
    return this.#isExpired;
  }

  /** Somebody asks. @param expiresAt - in seconds since 1970; `undefined`: they stay who they are. */
  renew(expiresAt: number | undefined): void {
    if (expiresAt === this.#expiresAt) return;
    this.#expiresAt = expiresAt;
    this.end();
    this.#check();
  }

  /** Tells of nothing more. */
  end(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #check(): void {
    const leftMs = this.#expiresAt === undefined ? Number.POSITIVE_INFINITY : this.#expiresAt * 1000 - Date.now();
    const isExpired = leftMs <= 0;
    if (!isExpired && Number.isFinite(leftMs)) {
      this.#stopTimer = this.#clock.after(Math.min(leftMs, longestMs), () => this.#check());
    }
    if (isExpired === this.#isExpired) return;
    this.#isExpired = isExpired;
    this.#onChange();
  }
}
