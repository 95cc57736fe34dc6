/** Tells what there is, at once and after each change. Returns what stops it. */
export type Observe<TValue> = (notify: (value: TValue) => void) => () => void;

/** A value that whoever wants to may look at as it changes. */
export class Observable<TValue> {
  readonly #listeners = new Set<(value: TValue) => void>();
  #value: TValue;

  constructor(value: TValue) {
    this.#value = value;
  }

  get value(): TValue {
    return this.#value;
  }

  set value(value: TValue) {
    this.#value = value;
    for (const listener of this.#listeners) listener(value);
  }

  /** Tells what is made of each value. */
  map<TOther>(make: (value: TValue) => TOther): Observe<TOther> {
    return (notify) => {
      const listener = (value: TValue): void => notify(make(value));
      this.#listeners.add(listener);
      listener(this.#value);
      return () => this.#listeners.delete(listener);
    };
  }
}
