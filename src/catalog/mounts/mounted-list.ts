import { SurfaceError } from "../../errors.ts";
import { diffLists, patchList, type ListDiff } from "../list-changes.ts";

interface Named {
  /** The name in messages. */
  readonly origin: string;
}

/** Dependencies of a {@link MountedList}. */
export interface MountedListDeps<TItem, TEntry> {
  /** Makes the entry of an item; `undefined` if agents get none. Throws if the item is not valid. */
  readonly make: (item: TItem) => TEntry | undefined;
  /** Returns the name that no two entries may share. */
  readonly nameOf: (entry: TEntry) => string;
  /** The kind of name, for messages. */
  readonly called: string;
  /** Returns the entry outside this list that has a name. @default none */
  readonly ownerOf?: (name: string) => Named | undefined;
  /** Called with an entry once its item is not listed any more. */
  readonly drop?: (entry: TEntry) => void;
  /** Receives the reason for which an item is left out, once. Must not throw. @param entry - left out if there is none. */
  readonly tell: (cause: unknown, entry?: TEntry) => void;
}

/**
 * The entries of a list of items, each made once for as long as the same object is listed. An item that is not valid, or whose name is
 * taken, is left out, and the others work. A change of one item costs the same however many there are, up to copying the list.
 */
export class MountedList<TItem, TEntry extends Named> {
  readonly #deps: MountedListDeps<TItem, TEntry>;
  /** The entry of every listed item; `undefined` for one without. */
  #made = new Map<TItem, TEntry | undefined>();
  /** Items that are left out, and were reported, because their name is taken. */
  #doubles: ReadonlySet<TItem> = new Set();
  #byName = new Map<string, TEntry>();
  #entries: readonly TEntry[] = Object.freeze([]);
  #items: readonly TItem[] = [];

  constructor(deps: MountedListDeps<TItem, TEntry>) {
    this.#deps = deps;
  }

  get entries(): readonly TEntry[] {
    return this.#entries;
  }

  find(name: string): TEntry | undefined {
    return this.#byName.get(name);
  }

  /** Takes the current items, and returns their entries: the same list if it has not changed. */
  take(items: readonly TItem[]): readonly TEntry[] {
    const before = this.#items;
    this.#items = items;
    // The order decides which of two with one name is left out; and an item that is listed twice may go once.
    const isPlain = this.#doubles.size === 0 && this.#made.size === before.length;
    if (!isPlain || !this.#patch(diffLists(before, items))) this.#takeAll(items);
    return this.#entries;
  }

  /** Takes the difference. Returns `false` if a name is taken. */
  #patch({ gone, come }: ListDiff<TItem>): boolean {
    const { nameOf, ownerOf } = this.#deps;
    const left = gone.flatMap((item) => this.#remove(item) ?? []);
    const entered: TEntry[] = [];
    for (const item of come) {
      const entry = this.#made.has(item) ? this.#made.get(item) : this.#make(item);
      this.#made.set(item, entry);
      if (entry === undefined) continue;
      const name = nameOf(entry);
      if (this.#byName.has(name) || ownerOf?.(name) !== undefined) return false;
      this.#byName.set(name, entry);
      entered.push(entry);
    }
    this.#entries = patchList(this.#entries, { gone: left, come: entered });
    return true;
  }

  #remove(item: TItem): TEntry | undefined {
    const entry = this.#made.get(item);
    this.#made.delete(item);
    if (entry === undefined) return undefined;
    this.#deps.drop?.(entry);
    return this.#byName.delete(this.#deps.nameOf(entry)) ? entry : undefined;
  }

  #takeAll(items: readonly TItem[]): void {
    const { nameOf, ownerOf } = this.#deps;
    const made = new Map<TItem, TEntry | undefined>();
    const doubles = new Set<TItem>();
    const byName = new Map<string, TEntry>();
    this.#dropAllBut(new Set(items));
    for (const item of items) {
      const known = made.has(item) ? made : this.#made;
      const entry = known.has(item) ? known.get(item) : this.#make(item);
      made.set(item, entry);
      if (entry === undefined) continue;
      const name = nameOf(entry);
      const first = ownerOf?.(name) ?? byName.get(name);
      if (first === undefined) byName.set(name, entry);
      else if (first !== entry) {
        doubles.add(item);
        if (!this.#doubles.has(item)) this.#tellTaken(name, entry, first);
      }
    }
    this.#made = made;
    this.#doubles = doubles;
    this.#byName = byName;
    this.#entries = Object.freeze([...byName.values()]);
  }

  #dropAllBut(items: ReadonlySet<TItem>): void {
    for (const [item, entry] of this.#made) if (entry !== undefined && !items.has(item)) this.#deps.drop?.(entry);
  }

  #make(item: TItem): TEntry | undefined {
    try {
      return this.#deps.make(item);
    } catch (cause) {
      this.#deps.tell(cause);
      return undefined;
    }
  }

  #tellTaken(name: string, entry: TEntry, first: Named): void {
    const message = `Naming ${entry.origin}: its ${this.#deps.called}, "${name}", is taken by ${first.origin}`;
    this.#deps.tell(new SurfaceError("NAME_COLLISION", message), entry);
  }
}

/**
 * Returns the error that reports something as left out. An error of this package keeps its message, and loses its stack, which would not
 * help the author; anything else becomes the cause.
 */
export function leftOut(cause: unknown, where: string): SurfaceError {
  const error =
    cause instanceof SurfaceError
      ? new SurfaceError(cause.code, `${cause.message}; it is left out`, { issues: cause.issues })
      : new SurfaceError("INVALID_OPTION", `Reading what ${where} has: it cannot be read; it is left out`, { cause });
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
