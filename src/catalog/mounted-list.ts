import { SurfaceError } from "../errors.ts";
import { diffLists, patchList, type ListDiff } from "./diff-lists.ts";

/** What is made of what a source lists. */
export interface MountedListSetting<TEntry> {
  /** What an item comes to; `undefined` where it is nothing for agents. Throws what is wrong with it. */
  readonly make: (item: unknown) => TEntry | undefined;
  /** What no two of them may share. */
  readonly nameOf: (entry: TEntry) => string;
  /** What messages call that. */
  readonly called: string;
  /** Called with each entry that {@link make} returned, once its item is not listed any more. */
  readonly drop?: (entry: TEntry) => void;
  /** Told what is left out. Must not throw. */
  readonly tell: (cause: unknown) => void;
}

interface Placed {
  readonly origin: string;
}

/** Why something is left out whose name is taken. */
export function takenBy(name: { called: string; text: string }, entry: Placed, first: Placed): SurfaceError {
  const message = `Naming ${entry.origin}: its ${name.called}, "${name.text}", is taken by ${first.origin}`;
  return new SurfaceError("NAME_COLLISION", message);
}

/**
 * The entries of one list of a source: each made once, for as long as the source gives the same object. What cannot be an entry is
 * left out and told once, and the others work.
 */
export class MountedList<TEntry extends Placed> {
  readonly #setting: MountedListSetting<TEntry>;
  /** What every item came to that was listed last; `undefined` where nothing came of it. */
  #made = new Map<unknown, TEntry | undefined>();
  /** Those that were left out because of another of the same name, and were told of. */
  #doubles: ReadonlySet<unknown> = new Set();
  /** By name, without those. */
  #byName = new Map<string, TEntry>();
  #entries: readonly TEntry[] = Object.freeze([]);
  #items: readonly unknown[] = [];

  constructor(setting: MountedListSetting<TEntry>) {
    this.#setting = setting;
  }

  /** Those of what was taken last. */
  get entries(): readonly TEntry[] {
    return this.#entries;
  }

  /** The one of a name. */
  find(name: string): TEntry | undefined {
    return this.#byName.get(name);
  }

  /** Takes what is listed now. The same list of entries comes of it where that is what comes of it. */
  take(items: readonly unknown[]): void {
    const before = this.#items;
    this.#items = items;
    // Which of two of one name is left out is a matter of their order; and what is listed twice may go once.
    const isPlain = this.#doubles.size === 0 && this.#made.size === before.length;
    if (!isPlain || !this.#patch(diffLists(before, items))) this.#takeAll(items);
  }

  /** Takes what has come and gone, of thousands maybe one. Whether each name is still that of one alone. */
  #patch({ gone, come }: ListDiff<unknown>): boolean {
    const [left, entered]: [TEntry[], TEntry[]] = [[], []];
    for (const item of gone) {
      const entry = this.#made.get(item);
      this.#made.delete(item);
      if (entry === undefined) continue;
      this.#setting.drop?.(entry);
      if (this.#byName.delete(this.#setting.nameOf(entry))) left.push(entry);
    }
    for (const item of come) {
      const entry = this.#made.has(item) ? this.#made.get(item) : this.#make(item);
      this.#made.set(item, entry);
      if (entry === undefined) continue;
      const name = this.#setting.nameOf(entry);
      if (this.#byName.has(name)) return false;
      this.#byName.set(name, entry);
      entered.push(entry);
    }
    this.#entries = patchList(this.#entries, { gone: left, come: entered });
    return true;
  }

  #takeAll(items: readonly unknown[]): void {
    const made = new Map<unknown, TEntry | undefined>();
    const doubles = new Set<unknown>();
    const byName = new Map<string, TEntry>();
    this.#dropAllBut(new Set(items));
    for (const item of items) {
      const known = made.has(item) ? made : this.#made;
      const entry = known.has(item) ? known.get(item) : this.#make(item);
      made.set(item, entry);
      if (entry === undefined) continue;
      const name = this.#setting.nameOf(entry);
      const first = byName.get(name);
      if (first === undefined) byName.set(name, entry);
      else if (first !== entry) doubles.add(this.#leaveOut(item, entry, first));
    }
    this.#made = made;
    this.#doubles = doubles;
    this.#byName = byName;
    this.#entries = Object.freeze([...byName.values()]);
  }

  #dropAllBut(items: ReadonlySet<unknown>): void {
    for (const [item, entry] of this.#made) if (entry !== undefined && !items.has(item)) this.#setting.drop?.(entry);
  }

  #make(item: unknown): TEntry | undefined {
    try {
      return this.#setting.make(item);
    } catch (cause) {
      this.#setting.tell(cause);
      return undefined;
    }
  }

  #leaveOut(item: unknown, entry: TEntry, first: TEntry): unknown {
    const { called, nameOf, tell } = this.#setting;
    if (!this.#doubles.has(item)) tell(takenBy({ called, text: nameOf(entry) }, entry, first));
    return item;
  }
}
