/** What was lost right before a value: how much, where that is known, and that something may have been. */
export interface Gap {
  readonly missed: number;
  readonly isReset: boolean;
}

interface Kept<TValue> extends Gap {
  readonly number: number;
  readonly value: TValue;
}

/** That nothing was lost. */
export const noGap: Gap = Object.freeze({ missed: 0, isReset: false });

/** The last values of something that happens, numbered from 1, bounded. What was lost has its numbers, and is not kept. */
export class Ring<TValue> {
  readonly #capacity: number;
  readonly #kept: Kept<TValue>[] = [];
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
    return this.#kept[0]?.number ?? this.#last + 1;
  }

  push(value: TValue, { missed, isReset }: Gap = noGap): void {
    this.#last += missed + 1;
    this.#kept.push({ number: this.#last, value, missed, isReset });
    if (this.#kept.length > this.#capacity) this.#kept.shift();
  }

  /** The oldest value after a number that is still kept, with what was lost since that number. */
  next(after: number): Kept<TValue> | undefined {
    const found = this.#kept.find(({ number }) => number > after);
    return found === undefined ? undefined : { ...found, missed: found.number - after - 1 };
  }

  /** The newest value, if there is one. */
  get newest(): { readonly value: TValue } | undefined {
    return this.#kept.at(-1);
  }

  /** All that is kept, oldest first. */
  values(): readonly TValue[] {
    return this.#kept.map(({ value }) => value);
  }
}
