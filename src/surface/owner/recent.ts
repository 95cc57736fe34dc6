/** Remembers what is made for a key, up to a number of keys: the least recently used one is forgotten first. */
export class Recent<TValue> {
  readonly #max: number;
  readonly #values = new Map<string, TValue>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the value of a key, made if it is not remembered. */
  of(key: string, make: () => TValue): TValue {
    const value = this.#values.get(key) ?? make();
    // Put in again, so that a map's own order is the order of use.
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const oldest of this.#values.keys()) if (this.#values.size > this.#max) this.#values.delete(oldest);
    return value;
  }
}
