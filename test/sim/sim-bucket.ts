/** Notifications that go out at once after rest. */
export const burst = 4;

/** Tokens as the notifications heard leave them. */
export class SimBucket {
  #tokens = burst;
  #at = 0;

  /** Returns the tokens that are there now; below 0 where more were taken than there could be. */
  tokens(now: number, windowMs: number): number {
    return Math.min(burst, this.#tokens + (now - this.#at) / windowMs);
  }

  /** Sets the tokens that are there now. */
  set(tokens: number, now: number): void {
    this.#tokens = tokens;
    this.#at = now;
  }
}
