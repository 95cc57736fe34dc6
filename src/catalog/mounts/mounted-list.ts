import { SurfaceError } from "../../errors.ts";
import { diffLists, PendingDiff, type ListDiff } from "../list-changes.ts";

interface Named {
  /** The name in messages. */
  readonly origin: string;
}

/** Dependencies of a {@link MountedList}. */
export interface MountedListDeps<TEntry> {
  /** Returns the name that no two entries may share. */
  readonly nameOf: (entry: TEntry) => string;
  /** The kind of name, for messages. */
  readonly called: string;
  /** Returns the entry of the app itself that has a name. */
  readonly ownerOf: (name: string) => Named | undefined;
  /** Receives the reason for which an entry is left out, once. Must not throw. */
  readonly tell: (cause: unknown, entry: TEntry) => void;
}

/** Items of one source, and the entry of each. */
export interface SourceItems<TEntry> {
  /** Creates the entry of an item; `undefined` if agents get none. Must not throw. */
  readonly make: (item: unknown) => TEntry | undefined;
  /** Called with an entry once its item is not listed any more. */
  readonly drop?: (entry: TEntry) => void;
}

/** Updates the items of one source. */
export interface SourceUpdates {
  set(items: readonly unknown[]): void;
  change(diff: ListDiff<unknown>): void;
}

class SourceList<TEntry> {
  readonly source: SourceItems<TEntry>;
  /** The entry of every item; `undefined` for an item without one. */
  readonly made = new Map<unknown, TEntry | undefined>();
  /** The items as they were listed last; `undefined` if they have changed since. */
  listed: readonly unknown[] | undefined = [];

  constructor(source: SourceItems<TEntry>) {
    this.source = source;
  }

  /** Sets the items. Returns the change. */
  set(items: readonly unknown[]): ListDiff<unknown> {
    const { listed: before, made } = this;
    this.listed = items;
    // An item that was listed twice may still be listed.
    if (before !== undefined && made.size === before.length) return diffLists(before, items);
    const listed = new Set(items);
    return { gone: [...made.keys()].filter((item) => !listed.has(item)), come: [...listed] };
  }
}

/**
 * The entries of one kind that all sources list, each made once for as long as the same object is listed. An entry whose name is taken
 * by the app or by an entry before it is left out. While none is left out, a change costs no more than the changed items.
 */
export class MountedList<TEntry extends Named> {
  readonly #deps: MountedListDeps<TEntry>;
  readonly #lists: SourceList<TEntry>[] = [];
  /** Entries that are left out, and were reported. */
  #doubles: ReadonlySet<TEntry> = new Set();
  #byName = new Map<string, TEntry>();
  readonly #pending = new PendingDiff<TEntry>();

  constructor(deps: MountedListDeps<TEntry>) {
    this.#deps = deps;
  }

  find(name: string): TEntry | undefined {
    return this.#byName.get(name);
  }

  /** Returns the change since the last call; `undefined` if nothing has changed. */
  takeChange(): ListDiff<TEntry> | undefined {
    return this.#pending.take();
  }

  /** Adds a source. Returns the functions that take its current items, or their change. */
  addSource(source: SourceItems<TEntry>): SourceUpdates {
    const list = new SourceList(source);
    this.#lists.push(list);
    return {
      set: (items) => this.#change(list, list.set(items)),
      change: (diff) => {
        list.listed = undefined;
        this.#change(list, diff);
      },
    };
  }

  #change({ source, made }: SourceList<TEntry>, { gone, come }: ListDiff<unknown>): void {
    let isUnique = this.#doubles.size === 0;
    for (const item of gone) {
      const entry = made.get(item);
      made.delete(item);
      if (entry !== undefined) this.#remove(entry, source);
    }
    for (const item of come) {
      if (made.has(item)) continue;
      const entry = source.make(item);
      made.set(item, entry);
      if (entry !== undefined) isUnique = this.#add(entry) && isUnique;
    }
    // The order of the entries decides which of two is left out.
    if (!isUnique) this.#resolve();
  }

  #remove(entry: TEntry, source: SourceItems<TEntry>): void {
    source.drop?.(entry);
    const name = this.#deps.nameOf(entry);
    if (this.#byName.get(name) !== entry) return;
    this.#byName.delete(name);
    this.#pending.remove(entry);
  }

  /** Returns `false` if the name is taken. */
  #add(entry: TEntry): boolean {
    const { nameOf, ownerOf } = this.#deps;
    const name = nameOf(entry);
    if (this.#byName.has(name) || ownerOf(name) !== undefined) return false;
    this.#byName.set(name, entry);
    this.#pending.add(entry);
    return true;
  }

  /** Decides again which entry has each name. */
  #resolve(): void {
    const before = this.#byName;
    const known = this.#doubles;
    const doubles = this.#nameAll();
    for (const [name, entry] of before) if (this.#byName.get(name) !== entry) this.#pending.remove(entry);
    for (const [name, entry] of this.#byName) if (before.get(name) !== entry) this.#pending.add(entry);
    const { nameOf, called, tell } = this.#deps;
    for (const [entry, first] of doubles) {
      if (known.has(entry)) continue;
      const message = `Cannot name ${entry.origin}: its ${called} "${nameOf(entry)}" is taken by ${first.origin}`;
      tell(new SurfaceError("NAME_COLLISION", message), entry);
    }
  }

  /** Gives each name to the first entry. Returns the entries that get none, with the owners of their names. */
  #nameAll(): ReadonlyMap<TEntry, Named> {
    const { nameOf, ownerOf } = this.#deps;
    const byName = new Map<string, TEntry>();
    const doubles = new Map<TEntry, Named>();
    for (const { listed, made } of this.#lists) {
      for (const item of listed ?? made.keys()) {
        const entry = made.get(item);
        if (entry === undefined) continue;
        const name = nameOf(entry);
        const first = ownerOf(name) ?? byName.get(name);
        if (first === undefined) byName.set(name, entry);
        else if (first !== entry) doubles.set(entry, first);
      }
    }
    this.#byName = byName;
    this.#doubles = new Set(doubles.keys());
    return doubles;
  }
}

/**
 * Returns the error that reports an entry as left out. An error of this package keeps its message, and loses its stack, which would not
 * help the author; anything else becomes the cause.
 */
export function skippedEntryError(cause: unknown, where: string): SurfaceError {
  const error =
    cause instanceof SurfaceError
      ? new SurfaceError(cause.code, `${cause.message}; it is left out`, { issues: cause.issues })
      : new SurfaceError("INVALID_OPTION", `Cannot read an entry of ${where}; it is left out`, { cause });
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
