/** The last values of something that happens, numbered from 1, bounded. */
export class Ring<TValue> {
  readonly #capacity: number;
  readonly #kept: { readonly value: TValue }[] = [];
  #last = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of the newest value; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** The number of the oldest value that is still kept; `last + 1` when none is. */
  get first(): number {
    return this.#last - this.#kept.length + 1;
  }

  push(value: TValue): void {
    this.#kept.push({ value });
    this.#last += 1;
    if (this.#kept.length > this.#capacity) this.#kept.shift();
  }

  /** The value with this number, if it is still kept. */
  at(number: number): { readonly value: TValue } | undefined {
    return number > this.#last ? undefined : this.#kept[number - this.first];
  }

  /** All that is kept, oldest first. */
  values(): readonly TValue[] {
    return this.#kept.map(({ value }) => value);
  }
}
