import { SurfaceError } from "../errors.ts";

/** What is made of what a source lists. */
export interface MountedListSetting<TEntry> {
  /** What an item comes to; `undefined` where it is nothing for agents. Throws what is wrong with it. */
  readonly make: (item: unknown) => TEntry | undefined;
  /** What no two of them may share. */
  readonly nameOf: (entry: TEntry) => string;
  /** What messages call that. */
  readonly called: string;
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
  #made: ReadonlyMap<unknown, TEntry | undefined> = new Map();
  /** Those that were left out because of another of the same name, and were told of. */
  #doubles: ReadonlySet<unknown> = new Set();
  /** By name, without those. */
  #byName: ReadonlyMap<string, TEntry> = new Map();
  #entries: readonly TEntry[] = Object.freeze([]);

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

  /** Takes what is listed now. */
  take(items: readonly unknown[]): void {
    const made = new Map<unknown, TEntry | undefined>();
    const doubles = new Set<unknown>();
    const byName = new Map<string, TEntry>();
    for (const item of items) {
      const entry = this.#made.has(item) ? this.#made.get(item) : this.#make(item);
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
