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
  /** Numbers that stand for what nobody saw, as its handler rested. */
  readonly #holes: number[] = [];
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

  /** Takes a number for what happens from now on unseen, so that cursors of before are told from those of after. */
  skip(): void {
    this.#last += 1;
    this.#holes.push(this.#last);
    if (this.#holes.length > this.#capacity) this.#holes.shift();
  }

  /** Whether nothing is kept after a number, and something may have happened unseen since then. */
  isCut(after: number): boolean {
    return (this.#kept.at(-1)?.number ?? 0) <= after && (this.#holes.at(-1) ?? 0) > after;
  }

  /** The oldest value after a number that is still kept, with what was lost since that number. */
  next(after: number): Kept<TValue> | undefined {
    const found = this.#kept.find(({ number }) => number > after);
    if (found === undefined) return undefined;
    const holes = this.#holes.filter((number) => number > after && number < found.number).length;
    const missed = found.number - after - 1 - holes;
    return { ...found, missed, isReset: found.isReset || holes > 0 };
  }

  /** The newest value, if there is one. */
  get newest(): { readonly value: TValue; readonly number: number } | undefined {
    return this.#kept.at(-1);
  }

  /** All that is kept, oldest first. */
  values(): readonly TValue[] {
    return this.#kept.map(({ value }) => value);
  }
}

/** Where a wait starts, read from a cursor. */
export type Start =
  | { readonly kind: "after"; readonly number: number }
  | { readonly kind: "reset"; readonly number: number };

/** What a cursor is read against. */
interface CursorSetting {
  readonly generation: string;
  /** The oldest number that is kept, and the newest there has been. */
  readonly first: number;
  readonly last: number;
}

const pattern = /^([0-9a-z]{1,32})\.(\d{1,15})$/;

/** Writes the cursor that stands right after a number. */
export function toCursor(generation: string, number: number): string {
  return `${generation}.${number}`;
}

/**
 * Reads a cursor. One that this life of the ring did not write is a reset to before everything that is kept, so that
 * nothing since its beginning is lost.
 */
export function fromCursor(cursor: string, setting: CursorSetting): Start {
  const [, generation, digits] = pattern.exec(cursor) ?? [];
  const number = Number(digits);
  if (generation !== setting.generation || number > setting.last) return { kind: "reset", number: setting.first - 1 };
  return { kind: "after", number };
}
