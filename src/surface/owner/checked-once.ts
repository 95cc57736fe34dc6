/** Remembers the outcome of a check for as long as the value it was made of stays the same. */
export class CheckedOnce {
  readonly #check: (raw: unknown) => unknown;
  #known: { readonly raw: unknown; readonly value: unknown } | undefined;

  constructor(check: (raw: unknown) => unknown) {
    this.#check = check;
  }

  /** The checked value, or a promise of it. An `Object.is`-equal raw value is not checked again, unless it failed. */
  of(raw: unknown): unknown {
    if (this.#known !== undefined && Object.is(this.#known.raw, raw)) return this.#known.value;
    const known = { raw, value: this.#check(raw) };
    this.#known = known;
    if (known.value instanceof Promise) {
      known.value.catch(() => {
        if (this.#known === known) this.#known = undefined;
      });
    }
    return known.value;
  }
}
