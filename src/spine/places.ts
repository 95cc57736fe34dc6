/** Where one stands among the others. Made by {@link Places.add}; only {@link Places} changes it. */
export class Place<TValue> {
  readonly value: TValue;
  isTaken = true;
  before: Place<TValue> | undefined;
  after: Place<TValue> | undefined;

  /** @param before - who came last before it. */
  constructor(value: TValue, before: Place<TValue> | undefined) {
    this.value = value;
    this.before = before;
  }
}

/**
 * What comes and goes, in the order in which it came: users of a link, calls under way.
 *
 * A list, and not a `Set`: one that lives long is copied every few dozen times that something was added, and each old copy
 * keeps the next from being collected while it is young, with all that is in it. It made a small call cost twice as much.
 */
export class Places<TValue> {
  #first: Place<TValue> | undefined;
  #last: Place<TValue> | undefined;
  #size = 0;

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** Adds one at the end. */
  add(value: TValue): Place<TValue> {
    const place = new Place(value, this.#last);
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Takes one out. `false` where it was not in any more. */
  remove(place: Place<TValue>): boolean {
    if (!place.isTaken) return false;
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.isTaken = false;
    // Whatever still holds the place is not to hold the others by it.
    place.before = undefined;
    place.after = undefined;
    this.#size -= 1;
    return true;
  }

  /** The places that are taken now. One that is left while they are gone through says so. */
  list(): readonly Place<TValue>[] {
    const places: Place<TValue>[] = [];
    for (let place = this.#first; place !== undefined; place = place.after) places.push(place);
    return places;
  }

  /** Takes all of them out. */
  clear(): void {
    for (const place of this.list()) this.remove(place);
  }
}
