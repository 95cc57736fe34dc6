/**
 * Values by key, for what comes and goes with every request.
 *
 * The map holds numbers only. A `Map` that lives long is copied every few dozen additions, and each old copy keeps its values, and all
 * that they refer to, from being collected while they are young. For the requests of a connection that cost 40 % of a small call.
 */
export class SlotMap<TKey, TValue> {
  readonly #slots: (TValue | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #byKey = new Map<TKey, number>();

  get size(): number {
    return this.#byKey.size;
  }

  has(key: TKey): boolean {
    return this.#byKey.has(key);
  }

  get(key: TKey): TValue | undefined {
    const slot = this.#byKey.get(key);
    return slot === undefined ? undefined : this.#slots[slot];
  }

  /** Adds a value under a key that is not in use. */
  add(key: TKey, value: TValue): void {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = value;
    this.#byKey.set(key, slot);
  }

  /** Removes the value of a key and returns it. */
  take(key: TKey): TValue | undefined {
    const slot = this.#byKey.get(key);
    if (slot === undefined) return undefined;
    const value = this.#slots[slot];
    this.#slots[slot] = undefined;
    this.#free.push(slot);
    this.#byKey.delete(key);
    return value;
  }

  /** Returns the values, in no order. */
  list(): readonly TValue[] {
    return this.#slots.filter((value): value is TValue & {} => value !== undefined);
  }
}
