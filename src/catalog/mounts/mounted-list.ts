import { SurfaceError } from "../../errors.ts";
import { PendingDiff, type ListDiff } from "../list-changes.ts";

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

/**
 * The entries of one kind that all sources list, each made once for as long as the same object is listed. An entry whose name is taken
 * is left out until the name is free. A change costs no more than the changed items.
 */
export class MountedList<TEntry extends Named> {
  readonly #deps: MountedListDeps<TEntry>;
  readonly #byName = new Map<string, TEntry>();
  /** Entries that are left out, the oldest first. */
  readonly #waiting = new Set<TEntry>();
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
  addSource({ make, drop }: SourceItems<TEntry>): SourceUpdates {
    /** The entry of every item; `undefined` for an item without one. */
    const made = new Map<unknown, TEntry | undefined>();
    const change = ({ gone, come }: ListDiff<unknown>): void => {
      for (const item of gone) {
        const entry = made.get(item);
        made.delete(item);
        if (entry === undefined) continue;
        drop?.(entry);
        this.#remove(entry);
      }
      for (const item of come) {
        if (made.has(item)) continue;
        const entry = make(item);
        made.set(item, entry);
        if (entry !== undefined) this.#addOrReport(entry);
      }
      // Last, so that an entry which replaces another one has its name.
      for (const entry of this.#waiting) if (this.#add(entry)) this.#waiting.delete(entry);
    };
    return {
      change,
      set(items) {
        const listed = new Set(items);
        change({ gone: [...made.keys()].filter((item) => !listed.has(item)), come: [...listed] });
      },
    };
  }

  #remove(entry: TEntry): void {
    const name = this.#deps.nameOf(entry);
    if (this.#waiting.delete(entry) || this.#byName.get(name) !== entry) return;
    this.#byName.delete(name);
    this.#pending.remove(entry);
  }

  #addOrReport(entry: TEntry): void {
    if (this.#add(entry)) return;
    this.#waiting.add(entry);
    const { called, nameOf, tell } = this.#deps;
    const name = nameOf(entry);
    const message = `Cannot name ${entry.origin}: its ${called} "${name}" is taken by ${this.#ownerOf(name)?.origin}`;
    tell(new SurfaceError("NAME_COLLISION", message), entry);
  }

  /** Returns `false` if the name is taken. */
  #add(entry: TEntry): boolean {
    const name = this.#deps.nameOf(entry);
    if (this.#ownerOf(name) !== undefined) return false;
    this.#byName.set(name, entry);
    this.#pending.add(entry);
    return true;
  }

  #ownerOf(name: string): Named | undefined {
    return this.#deps.ownerOf(name) ?? this.#byName.get(name);
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
