/** How many used ids are remembered: of all callers, and of one. */
export interface ClaimBounds {
  readonly most: number;
  readonly share: number;
}

const defaultBounds: ClaimBounds = { most: 65_536, share: 8192 };

/** The used ids of one caller, with the time when each expires. */
interface Used {
  readonly ids: Map<string, number>;
  /** No id expires before: until then a full share is refused without a look at each id. */
  soonest: number;
}

/**
 * Remembers used ids until they expire, so that each is used once. Refuses new ids while it is full: an id that it forgot could be
 * used again. Each caller has a share, so that none takes the room of the others.
 */
export class Claims {
  readonly #now: () => number;
  readonly #bounds: ClaimBounds;
  readonly #callers = new Map<string, Used>();
  #size = 0;

  /** @param now - the time, on the scale of `expiresAt`. */
  constructor(now: () => number, bounds: ClaimBounds = defaultBounds) {
    this.#now = now;
    this.#bounds = bounds;
  }

  /** How many ids are remembered. */
  get size(): number {
    return this.#size;
  }

  /** Marks an id of a caller as used. Returns `false` if it was used before, or if there is no room. */
  take(id: string, expiresAt: number, caller: string): boolean {
    const { most, share } = this.#bounds;
    const used = this.#callers.get(caller) ?? { ids: new Map<string, number>(), soonest: Number.POSITIVE_INFINITY };
    if (used.ids.has(id)) return false;
    if (used.ids.size >= share) this.#forget(caller, used);
    if (this.#size >= most) for (const [other, theirs] of this.#callers) this.#forget(other, theirs);
    if (used.ids.size >= share || this.#size >= most) return false;
    this.#callers.set(caller, used);
    used.ids.set(id, expiresAt);
    used.soonest = Math.min(used.soonest, expiresAt);
    this.#size += 1;
    return true;
  }

  #forget(caller: string, used: Used): void {
    const now = this.#now();
    if (now < used.soonest) return;
    for (const [id, expiresAt] of used.ids) if (expiresAt <= now && used.ids.delete(id)) this.#size -= 1;
    used.soonest = Math.min(...used.ids.values());
    if (used.ids.size === 0) this.#callers.delete(caller);
  }
}
