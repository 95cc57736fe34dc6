/** How many are remembered at a time: of all, and of one caller. */
export interface ClaimBounds {
  readonly most: number;
  readonly share: number;
}

const defaultBounds: ClaimBounds = { most: 65_536, share: 8192 };

/** What one caller has used. */
class Used {
  /** When each can be forgotten, by its id. */
  readonly ids = new Map<string, number>();
  /** Before that nothing can be forgotten. */
  #soonest = Number.POSITIVE_INFINITY;

  add(id: string, expiresAt: number): void {
    this.ids.set(id, expiresAt);
    this.#soonest = Math.min(this.#soonest, expiresAt);
  }

  forget(now: number): void {
    if (now < this.#soonest) return;
    this.#soonest = Number.POSITIVE_INFINITY;
    for (const [id, expiresAt] of this.ids) {
      if (expiresAt <= now) this.ids.delete(id);
      else this.#soonest = Math.min(this.#soonest, expiresAt);
    }
  }
}

/**
 * What was used, each once, remembered until nobody could use it any more. Where there is room for no more, nothing new is taken:
 * forgetting what can still be used would let it be used again. Nobody fills the room of others: each caller has a share of it.
 */
export class Claims {
  readonly #now: () => number;
  readonly #bounds: ClaimBounds;
  readonly #callers = new Map<string, Used>();
  #size = 0;

  /** @param now - the time, on the scale of what is claimed. */
  constructor(now: () => number, bounds: ClaimBounds = defaultBounds) {
    this.#now = now;
    this.#bounds = bounds;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#size;
  }

  /** Takes an id for used, which only this caller can use. `false`: it was used before, or there is no room for theirs. */
  take(id: string, expiresAt: number, caller: string): boolean {
    const { most, share } = this.#bounds;
    if (this.#callers.get(caller)?.ids.has(id) === true) return false;
    if (this.#countOf(caller) >= share) this.#forget(caller);
    if (this.#size >= most) for (const each of this.#callers.keys()) this.#forget(each);
    if (this.#countOf(caller) >= share || this.#size >= most) return false;
    const used = this.#callers.get(caller) ?? new Used();
    this.#callers.set(caller, used);
    used.add(id, expiresAt);
    this.#size += 1;
    return true;
  }

  #countOf(caller: string): number {
    return this.#callers.get(caller)?.ids.size ?? 0;
  }

  #forget(caller: string): void {
    const used = this.#callers.get(caller);
    if (used === undefined) return;
    const before = used.ids.size;
    used.forget(this.#now());
    this.#size -= before - used.ids.size;
    if (used.ids.size === 0) this.#callers.delete(caller);
  }
}
