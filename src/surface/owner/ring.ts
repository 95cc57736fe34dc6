import { toMissed } from "../channel.ts";
import type { HandlerMemory } from "./handler-context.ts";

/** Values that were lost right before a value. */
export interface Gap {
  readonly missed: number;
  /** Whether values may have been lost. */
  readonly isReset: boolean;
}

interface Kept<TValue> extends Gap {
  readonly number: number;
  readonly value: TValue;
}

const noGap: Gap = Object.freeze({ missed: 0, isReset: false });

/** The last occurrences or frames, numbered from 1, bounded. Lost values have numbers too. */
export class Ring<TValue> {
  readonly #capacity: number;
  readonly #kept: Kept<TValue>[] = [];
  /** Numbers that stand for times when the handler did not run. */
  readonly #holes: number[] = [];
  #last = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get last(): number {
    return this.#last;
  }

  /** Number of the oldest kept value; `last + 1` if none is kept. */
  get first(): number {
    return this.#kept[0]?.number ?? this.#last + 1;
  }

  push(value: TValue, { missed, isReset }: Gap = noGap): void {
    this.#last += missed + 1;
    this.#kept.push({ number: this.#last, value, missed, isReset });
    if (this.#kept.length > this.#capacity) this.#kept.shift();
  }

  /** Uses up a number, so that cursors from before a pause of the handler differ from those after it. */
  skip(): void {
    this.#last += 1;
    this.#holes.push(this.#last);
    if (this.#holes.length > this.#capacity) this.#holes.shift();
  }

  /** Returns true if no value is kept after a number, and the handler has paused since. */
  isCut(after: number): boolean {
    return (this.#kept.at(-1)?.number ?? 0) <= after && (this.#holes.at(-1) ?? 0) > after;
  }

  /** Returns the oldest kept value after a number, with the gap between the two. */
  next(after: number): Kept<TValue> | undefined {
    const found = this.#kept.find(({ number }) => number > after);
    if (found === undefined) return undefined;
    const holes = this.#holes.filter((number) => number > after && number < found.number).length;
    const missed = found.number - after - 1 - holes;
    return { ...found, missed, isReset: found.isReset || holes > 0 };
  }

  get newest(): { readonly value: TValue; readonly number: number } | undefined {
    return this.#kept.at(-1);
  }

  values(): readonly TValue[] {
    return this.#kept.map(({ value }) => value);
  }
}

/** Start of a wait. `reset`: its cursor was not written by this ring. */
export interface Start {
  readonly kind: "after" | "reset";
  readonly number: number;
}

const pattern = /^([0-9a-z]{1,32})\.(\d{1,15})$/;

/** Writes the cursor right behind a number. */
export function toCursor(generation: string, number: number): string {
  return `${generation}.${number}`;
}

/** Reads a cursor. One of another generation is a reset to before the oldest kept value, so that nothing kept is lost. */
export function fromCursor(
  cursor: string,
  ring: { readonly generation: string; readonly first: number; readonly last: number },
): Start {
  const [, generation, digits] = pattern.exec(cursor) ?? [];
  const number = Number(digits);
  if (generation !== ring.generation || number > ring.last) return { kind: "reset", number: ring.first - 1 };
  return { kind: "after", number };
}

/** Memory of the handler that fills one ring: its state for the next start, its replay, and its losses. */
export class EventMemory implements HandlerMemory {
  state: unknown = undefined;
  onReplayed: () => void = () => {};
  #hasReplayed = false;
  #isReplaying = false;
  #gap = noGap;

  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  expectReplay(): void {
    this.#isReplaying = !this.#hasReplayed;
  }

  replayed(): void {
    this.#hasReplayed = true;
    if (!this.#isReplaying) return;
    this.#isReplaying = false;
    this.onReplayed();
  }

  lost(missed: number): void {
    // Upstream may report anything; a ring counts on with it.
    const added = toMissed(missed) ?? 0;
    this.#gap = { missed: toMissed(this.#gap.missed + added) ?? 0, isReset: true };
  }

  takeGap(): Gap {
    const gap = this.#gap;
    this.#gap = noGap;
    return gap;
  }
}
