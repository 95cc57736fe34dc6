/** How many are remembered at a time. */
const maxClaims = 65_536;

/**
 * What was used, each once, remembered until nobody could use it any more. Where there is room for no more, nothing new is taken:
 * forgetting what can still be used would let it be used again.
 */
export class Claims {
  readonly #now: () => number;
  readonly #most: number;
  /** When each can be forgotten, by its id. */
  readonly #taken = new Map<string, number>();
  /** Before that nothing can be forgotten. */
  #soonest = Number.POSITIVE_INFINITY;

  /** @param now - the time, on the scale of what is claimed. */
  constructor(now: () => number, most: number = maxClaims) {
    this.#now = now;
    this.#most = most;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#taken.size;
  }

  /** Takes an id for used. `false`: it was used before, or there is no room. */
  take(id: string, expiresAt: number): boolean {
    if (this.#taken.has(id)) return false;
    if (this.#taken.size >= this.#most) this.#forget();
    if (this.#taken.size >= this.#most) return false;
    this.#taken.set(id, expiresAt);
    this.#soonest = Math.min(this.#soonest, expiresAt);
    return true;
  }

  #forget(): void {
    const now = this.#now();
    if (now < this.#soonest) return;
    this.#soonest = Number.POSITIVE_INFINITY;
    for (const [id, expiresAt] of this.#taken) {
      if (expiresAt <= now) this.#taken.delete(id);
      else this.#soonest = Math.min(this.#soonest, expiresAt);
    }
  }
}
