import { type Place, Places } from "./collections.ts";

/** Upper bounds of a {@link Budget}, in the unit that it counts: bytes or places. */
export interface BudgetLimits {
  /** For everything together. */
  readonly total: number;
  /** For the shares of one key together. Shares without a key count in total only. */
  readonly perKey: number;
}

/** A bound that leaves no room. */
export interface OverBudget {
  readonly scope: "principal" | "global";
  readonly limit: number;
}

/** Current state of a {@link Budget}. */
export interface BudgetUse {
  readonly used: number;
  /** The total. */
  readonly limit: number;
  /** Number of requests for room that were refused. */
  readonly refused: number;
  /** Number of shares that were cut to make room for others. */
  readonly evicted: number;
}

/**
 * Releases a part of a share, synchronously, or nothing.
 *
 * @param excess - the amount that is needed.
 * @param what - `spare`: only what is not in use; `all`: anything. The budget asks every share for the first before the second.
 */
export type Evict = (excess: number, what: "spare" | "all") => void;

const sacrifices = ["spare", "all"] as const;

/** The part of a budget that one holder uses. Made by {@link Budget.open}. A share that holds nothing costs nothing. */
export class Share {
  readonly key: string | undefined;
  readonly evict: Evict | undefined;
  readonly #budget: Budget;
  /** Current amount. Only {@link Budget} changes it. */
  amount = 0;
  /** When the share can be evicted: `first`: before others; `never`: not at present. Its holder changes it. */
  eviction: "first" | "normal" | "never" = "normal";
  /** Position among the shares that can be evicted. Only {@link Budget} changes it. */
  place: Place<Share> | undefined;

  constructor(budget: Budget, key: string | undefined, evict: Evict | undefined) {
    this.#budget = budget;
    this.key = key;
    this.evict = evict;
  }

  /** Takes more, after evicting others if that helps. Returns the bound in the way if there is no room. */
  take(amount: number): OverBudget | undefined {
    return this.#budget.take(this, amount);
  }

  /** Counts what is held already, and evicts others if it is too much. Never refuses: a single share may be over the budget. */
  add(amount: number): void {
    this.#budget.add(this, amount);
  }

  /** Sets the amount. Less than before counts as a {@link touch}. */
  resize(amount: number): void {
    if (amount > this.amount) return this.add(amount - this.amount);
    if (amount === this.amount) return;
    this.release(this.amount - amount);
    this.touch();
  }

  /** Makes this share the last to be evicted. */
  touch(): void {
    this.#budget.touch(this);
  }

  /** Gives an amount back. @default all of it, so that it can be called twice */
  release(amount: number = this.amount): void {
    this.#budget.release(this, amount);
  }
}

/**
 * Bounds what others can make this process hold: in total, and for each key, such as a caller or an address. Beyond a bound it evicts the
 * shares that were touched the longest ago, and refuses if that does not help. Needs no disposing.
 */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #onOver: ((over: OverBudget) => void) | undefined;
  readonly #ofKeys = new Map<string, number>();
  /** Shares that hold something and can be evicted; the first goes first. */
  readonly #evictable = new Places<Share>();
  #used = 0;
  #refused = 0;
  #evicted = 0;

  /** @param onOver - told of each bound that is reached, after the eviction and before a refusal. */
  constructor(limits: BudgetLimits, onOver?: (over: OverBudget) => void) {
    this.#limits = limits;
    this.#onOver = onOver;
  }

  get use(): BudgetUse {
    return { used: this.#used, limit: this.#limits.total, refused: this.#refused, evicted: this.#evicted };
  }

  /** Opens a share that holds nothing yet. Without `evict` it is never evicted. */
  open(key: string | undefined, evict?: Evict): Share {
    return new Share(this, key, evict);
  }

  /** Returns true if a share of a key can take so much without an eviction. */
  hasRoom(key: string | undefined, amount: number): boolean {
    return this.#overBy(key, amount) === undefined;
  }

  /** Returns the amount that the shares of a key hold. Shares without a key are counted as all shares together. */
  heldBy(key: string | undefined): number {
    return key === undefined ? this.#used : (this.#ofKeys.get(key) ?? 0);
  }

  take(share: Share, amount: number): OverBudget | undefined {
    const over = this.#overBy(share.key, amount);
    if (over !== undefined) {
      if (this.#canMakeRoom(share, amount)) this.#makeRoom(share, amount);
      this.#onOver?.(over);
      const still = this.#overBy(share.key, amount);
      if (still !== undefined) {
        this.#refused += 1;
        return still;
      }
    }
    this.#count(share, amount);
    return undefined;
  }

  add(share: Share, amount: number): void {
    const over = this.#overBy(share.key, amount);
    if (over !== undefined) {
      this.#makeRoom(share, amount);
      this.#onOver?.(over);
    }
    this.#count(share, amount);
  }

  release(share: Share, amount: number): void {
    // Never more than the share holds, which may have been evicted meanwhile.
    const released = Math.min(amount, share.amount);
    if (released > 0) this.#count(share, -released);
  }

  touch(share: Share): void {
    if (share.place === undefined) return;
    this.#evictable.remove(share.place);
    share.place = this.#evictable.add(share);
  }

  /** Returns the bound that would break: first the one of the key, which tells nothing about others. */
  #overBy(key: string | undefined, amount: number): OverBudget | undefined {
    const { total, perKey } = this.#limits;
    if (this.#excessOf(key, amount) > 0) return { scope: "principal", limit: perKey };
    return this.#used + amount > total ? { scope: "global", limit: total } : undefined;
  }

  #excessOf(key: string | undefined, amount: number): number {
    return key === undefined ? 0 : (this.#ofKeys.get(key) ?? 0) + amount - this.#limits.perKey;
  }

  /** Returns true if evictions can make enough room. Otherwise nothing is evicted. */
  #canMakeRoom(asking: Share, amount: number): boolean {
    let ofKey = 0;
    let ofAll = 0;
    for (const share of this.#evictableNow()) {
      if (share === asking) continue;
      ofAll += share.amount;
      if (share.key === asking.key) ofKey += share.amount;
    }
    return ofKey >= this.#excessOf(asking.key, amount) && ofAll >= this.#used + amount - this.#limits.total;
  }

  #evictableNow(): readonly Share[] {
    if (this.#evictable.size === 0) return [];
    const shares = this.#evictable.list().map(({ value }) => value);
    const having = (eviction: Share["eviction"]): Share[] => shares.filter((share) => share.eviction === eviction);
    return [...having("first"), ...having("normal")];
  }

  #makeRoom(share: Share, amount: number): void {
    const shares = this.#evictableNow();
    const { key } = share;
    if (this.#excessOf(key, amount) > 0) {
      const ofKey = shares.filter((each) => each.key === key);
      this.#evictFrom(ofKey, share, () => this.#excessOf(key, amount));
    }
    this.#evictFrom(shares, share, () => this.#used + amount - this.#limits.total);
  }

  /** @param asking - the share that needs the room: it gives up only what is spare. */
  #evictFrom(shares: readonly Share[], asking: Share, excess: () => number): void {
    for (const what of sacrifices) {
      for (const share of shares) {
        const left = excess();
        if (left <= 0) return;
        if (share.amount > 0 && (what === "spare" || share !== asking)) this.#evict(share, left, what);
      }
    }
  }

  #evict(share: Share, excess: number, what: "spare" | "all"): void {
    const before = share.amount;
    share.evict?.(excess, what);
    if (share.amount < before && what === "all") this.#evicted += 1;
  }

  #count(share: Share, amount: number): void {
    this.#used += amount;
    share.amount += amount;
    if (share.key !== undefined) {
      const own = (this.#ofKeys.get(share.key) ?? 0) + amount;
      if (own > 0) this.#ofKeys.set(share.key, own);
      else this.#ofKeys.delete(share.key);
    }
    if (share.evict === undefined) return;
    if (share.amount > 0) share.place ??= this.#evictable.add(share);
    else if (share.place !== undefined) {
      this.#evictable.remove(share.place);
      share.place = undefined;
    }
  }
}
