// SlotMap and Places hold records of requests. A long-lived `Map` or `Set` of objects is copied every few dozen additions, and each old
// copy keeps its values from being collected while they are young. With them a small call cost twice as much.

/** Values by key. The map holds numbers only. */
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

/** The place of a value among the others. Only {@link Places} creates and changes it. */
export class Place<TValue> {
  readonly value: TValue;
  isTaken = true;
  before: Place<TValue> | undefined;
  after: Place<TValue> | undefined;

  /** @param before - the place before it. */
  constructor(value: TValue, before: Place<TValue> | undefined) {
    this.value = value;
    this.before = before;
  }
}

/** Values in the order in which they were added: users of a link, running calls. */
export class Places<TValue> {
  #first: Place<TValue> | undefined;
  #last: Place<TValue> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a value at the end. */
  add(value: TValue): Place<TValue> {
    const place = new Place(value, this.#last);
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Removes a value. Returns `false` if it was removed before. */
  remove(place: Place<TValue>): boolean {
    if (!place.isTaken) return false;
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.isTaken = false;
    // An object that still refers to the place must not keep the others by it.
    place.before = undefined;
    place.after = undefined;
    this.#size -= 1;
    return true;
  }

  /** Returns the places that are taken now. A place that is removed during the iteration says so. */
  list(): readonly Place<TValue>[] {
    const places: Place<TValue>[] = [];
    for (let place = this.#first; place !== undefined; place = place.after) places.push(place);
    return places;
  }

  /** Removes all values. */
  clear(): void {
    for (const place of this.list()) this.remove(place);
  }
}

/**
 * Sets an entry of a map as its newest, and deletes the oldest entry when there are more than `max`.
 *
 * @returns the key that was deleted.
 */
export function setNewest<TKey, TValue>(
  map: Map<TKey, TValue>,
  [key, value]: readonly [TKey, TValue],
  max: number,
): TKey | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return undefined;
  const [oldest] = map.keys();
  // A map of more than none has a first key.
  map.delete(oldest as TKey);
  return oldest;
}
