import type { Clock } from "../../spine/clock.ts";
import { Throttle } from "../../spine/throttle.ts";
import { anonymous } from "../../surface/caller.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { Catalog } from "../catalog.ts";
import type { ListedItem, ResourceContent, ResourceEntry } from "../entry.ts";
import type { Resolved } from "../resolve-uri.ts";
import { contentText } from "../content/resource-body.ts";
import type { ResourceWatches } from "./resource-watches.ts";
import type { WatchHandle } from "./watched-resource.ts";

/** A collection whose items are listed. */
export type ListingEntry = ResourceEntry & Required<Pick<ResourceEntry, "toItems">>;

/** Reads a resource within a deadline; `undefined` if it cannot be read. Never rejects. */
export type ReadContent = (resolved: Resolved) => Promise<ResourceContent | undefined>;

/** Decides whether a caller may know of the items of a collection. */
export type MayList = (entry: ListingEntry) => boolean;

/** The items of the collections that a caller may know of. */
export interface VisibleItems {
  /** Identifies the set of collections. */
  readonly of: string;
  /** An array for each collection; the same array until its items change. */
  readonly items: readonly (readonly ListedItem[])[];
}

/** Dependencies of {@link createListedItems}. */
export interface ListedItemsDeps {
  readonly catalog: Catalog;
  readonly watches: ResourceWatches;
  /** The shortest time between two notices, in milliseconds. */
  readonly windowMs: number;
  readonly clock?: Clock;
}

function isSame(left: readonly ListedItem[], right: readonly ListedItem[]): boolean {
  return left === right || (left.length === right.length && left.every(({ uri }, index) => uri === right[index]?.uri));
}

/** The listed items of one collection. While it is watched, it reports items other than those shown last. */
class ItemList {
  readonly entry: ListingEntry;
  readonly #watches: ResourceWatches;
  readonly #changed: (list: ItemList) => void;
  #watching: WatchHandle | undefined;
  /** The items that the listeners know; `undefined` until items were shown. */
  #shown: readonly ListedItem[] | undefined;
  /** Whether an empty list was shown because the items could not be read. */
  #isShort = false;
  /** Whether a value has come since the watch began. */
  #isOpen = false;
  #written: { readonly text: string; readonly items: readonly ListedItem[] } | undefined;

  constructor(entry: ListingEntry, watches: ResourceWatches, changed: (list: ItemList) => void) {
    this.entry = entry;
    this.#watches = watches;
    this.#changed = changed;
    watches.reserve(entry.uri);
  }

  /** Returns the current items: read, else as last watched, else none. */
  async list(read: ReadContent): Promise<readonly ListedItem[]> {
    const { uri } = this.entry;
    const content = (await read(this.#watches.resolve(uri) ?? this.entry)) ?? this.#watches.known(this.entry);
    const items = content === undefined ? undefined : this.#toItems(content);
    if (this.#watching !== undefined) {
      if (items === undefined) this.#isShort = true;
      else this.#shown ??= items;
    }
    return items ?? [];
  }

  open(): void {
    // One watch for all callers: a caller who may not read the collection does not listen to it.
    this.#watching = this.#watches.join(
      { uri: this.entry.uri, resolved: this.entry, caller: anonymous },
      {
        // The first value, and one after an unreadable list, is looked at without waiting for the throttle.
        moved: () => {
          if (!this.#isOpen || this.#isShort) this.look();
        },
        changed: () => this.look(),
      },
    );
    // Another watch may have the value already.
    this.look();
  }

  /** Compares the newest value with what was shown. Called before a listener joins, too, so that it misses nothing from then on. */
  look(): void {
    const content = this.#watches.known(this.entry);
    if (content === undefined || this.#watching === undefined) return;
    const items = this.#toItems(content);
    const wasMissed = this.#isShort && items.length > 0;
    const isNews = wasMissed || (this.#shown !== undefined && !isSame(this.#shown, items));
    this.#isOpen = true;
    this.#isShort = false;
    this.#shown = items;
    if (isNews) this.#changed(this);
  }

  close(): void {
    this.#watching?.end();
    this.#watching = undefined;
    this.#shown = undefined;
    this.#isShort = false;
    this.#isOpen = false;
  }

  #toItems(content: ResourceContent): readonly ListedItem[] {
    // A list of keys is always JSON.
    const text = contentText(content) ?? "[]";
    if (this.#written?.text !== text) this.#written = { text, items: this.entry.toItems(text) };
    return this.#written.items;
  }
}

interface Listener {
  readonly changed: () => void;
  readonly lists: ReadonlySet<ItemList>;
}

/**
 * The items of all collections that have them listed. A collection is watched while a caller who may know of it listens, once for all
 * of them. Call `close()` when done.
 */
export class ListedItems {
  readonly #lists: readonly ItemList[];
  readonly #throttle: Throttle;
  readonly #listeners = new Set<Listener>();
  /** Listeners with a change that was not announced yet. */
  readonly #pending = new Set<Listener>();

  /** @param entries - at least one. */
  constructor(entries: readonly ListingEntry[], { watches, windowMs, clock = systemClock }: ListedItemsDeps) {
    const changed = this.#touch.bind(this);
    this.#lists = entries.map((entry) => new ItemList(entry, watches, changed));
    this.#throttle = new Throttle({ clock, windowMs, fire: () => this.#announce() });
  }

  /** Returns the current items of the collections that a caller may know of. */
  async list(read: ReadContent, may: MayList): Promise<VisibleItems> {
    return { of: this.visibleTo(may), items: await Promise.all(this.#listsFor(may).map((each) => each.list(read))) };
  }

  /** Identifies the collections that a caller may know of. */
  visibleTo(may: MayList): string {
    return this.#lists.map(({ entry }) => (may(entry) ? "1" : "0")).join("");
  }

  /**
   * Watches which items exist. Calls `changed` at once after rest, then at most once a window, and once after the last change; not for
   * changes of values or of the order. After a list that lacked items because they could not be read, it calls `changed` once they can
   * be. Returns a function that ends the watch.
   */
  watch(changed: () => void, may: MayList): () => void {
    const listener: Listener = { changed, lists: new Set(this.#listsFor(may)) };
    const watched = [...listener.lists].filter((list) => this.#isHeard(list));
    // Earlier changes are for earlier listeners.
    for (const list of watched) list.look();
    this.#listeners.add(listener);
    for (const list of listener.lists) if (!watched.includes(list)) list.open();
    return () => this.#leave(listener);
  }

  /** Ends every watch. Callable twice. */
  close(): void {
    this.#listeners.clear();
    this.#pending.clear();
    this.#throttle.dispose();
    for (const list of this.#lists) list.close();
  }

  #listsFor(may: MayList): readonly ItemList[] {
    return this.#lists.filter(({ entry }) => may(entry));
  }

  #isHeard(list: ItemList): boolean {
    return [...this.#listeners].some(({ lists }) => lists.has(list));
  }

  #leave(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return;
    if (this.#listeners.size === 0) return this.close();
    for (const list of listener.lists) if (!this.#isHeard(list)) list.close();
  }

  #touch(list: ItemList): void {
    for (const listener of this.#listeners) if (listener.lists.has(list)) this.#pending.add(listener);
    this.#throttle.touch();
  }

  #announce(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const listener of pending) if (this.#listeners.has(listener)) listener.changed();
  }
}

/** Creates the listed items of a catalog; `undefined` if it lists none. */
export function createListedItems(deps: ListedItemsDeps): ListedItems | undefined {
  const entries = deps.catalog.resources.filter((entry): entry is ListingEntry => entry.toItems !== undefined);
  return entries.length === 0 ? undefined : new ListedItems(entries, deps);
}
