import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { Throttle } from "../spine/throttle.ts";
import type { Catalog } from "./catalog.ts";
import type { ListedItem } from "./entry.ts";
import { ItemList, type ListingEntry, type ReadContent } from "./item-list.ts";
import type { ResourceWatches } from "./resource-watches.ts";

/** What {@link createListedItems} takes. */
export interface ListedItemsSetting {
  readonly catalog: Catalog;
  readonly watches: ResourceWatches;
  /** The shortest time between two notices, in milliseconds. */
  readonly windowMs: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** Says whether somebody may know of the items of a collection. */
export type MayList = (entry: ListingEntry) => boolean;

/** The items of the collections that somebody may know of. */
export interface VisibleItems {
  /** Names which collections they are of; the same for all who may know of the same ones. */
  readonly of: string;
  /** Collection by collection; the same array where nothing has changed. */
  readonly items: readonly (readonly ListedItem[])[];
}

interface Listener {
  readonly changed: () => void;
  /** Those that they hear of. */
  readonly lists: ReadonlySet<ItemList>;
}

/**
 * The items of all collections whose author has them listed. Each is watched for as long as anybody listens who may know of
 * it, once for all who do. Its maker closes it.
 */
export class ListedItems {
  readonly #lists: readonly ItemList[];
  readonly #throttle: Throttle;
  readonly #listeners = new Set<Listener>();
  /** Those who listened when something changed that was not told yet. */
  readonly #owed = new Set<Listener>();

  /** @param entries - at least one. */
  constructor(entries: readonly ListingEntry[], setting: ListedItemsSetting) {
    const { watches, windowMs, clock = systemClock } = setting;
    this.#lists = entries.map((entry) => {
      const list: ItemList = new ItemList(entry, watches, () => this.#touch(list));
      return list;
    });
    this.#throttle = new Throttle({ clock, windowMs, fire: () => this.#tell() });
  }

  /** The items that are there now, of the collections that somebody may know of. */
  async list(read: ReadContent, may: MayList): Promise<VisibleItems> {
    return { of: this.visibleTo(may), items: await Promise.all(this.#listsFor(may).map((each) => each.list(read))) };
  }

  /** Names the collections that somebody may know of. */
  visibleTo(may: MayList): string {
    return this.#lists.map(({ entry }) => (may(entry) ? "1" : "0")).join("");
  }

  /**
   * Watches which items there are: `changed` is called at once after quiet, then at most once a window, and once more after
   * the last change; not where only values or their order change. Whoever was shown a list without items, while they could
   * not be read, is told when they can. Nothing is told of collections that they may not know of. Returns what ends it,
   * after which nothing is called.
   */
  watch(changed: () => void, may: MayList): () => void {
    const listener: Listener = { changed, lists: new Set(this.#listsFor(may)) };
    const watched = [...listener.lists].filter((list) => this.#isHeard(list));
    // What has changed before is for those who listened before.
    for (const list of watched) list.look();
    this.#listeners.add(listener);
    for (const list of listener.lists) if (!watched.includes(list)) list.open();
    return () => this.#leave(listener);
  }

  /** Ends every watch. Callable twice. */
  close(): void {
    this.#listeners.clear();
    this.#owed.clear();
    this.#throttle.dispose();
    for (const list of this.#lists) list.close();
  }

  #listsFor(may: MayList): readonly ItemList[] {
    return this.#lists.filter(({ entry }) => may(entry));
  }

  #isHeard(list: ItemList): boolean {
    for (const { lists } of this.#listeners) if (lists.has(list)) return true;
    return false;
  }

  #leave(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return;
    if (this.#listeners.size === 0) return this.close();
    for (const list of listener.lists) if (!this.#isHeard(list)) list.close();
  }

  #touch(list: ItemList): void {
    for (const listener of this.#listeners) if (listener.lists.has(list)) this.#owed.add(listener);
    this.#throttle.touch();
  }

  #tell(): void {
    const owed = [...this.#owed];
    this.#owed.clear();
    for (const listener of owed) if (this.#listeners.has(listener)) listener.changed();
  }
}

/** The items that a catalog lists; `undefined` where it lists none, whatever there is. */
export function createListedItems(setting: ListedItemsSetting): ListedItems | undefined {
  const entries = setting.catalog.resources.filter((entry): entry is ListingEntry => entry.toItems !== undefined);
  return entries.length === 0 ? undefined : new ListedItems(entries, setting);
}
