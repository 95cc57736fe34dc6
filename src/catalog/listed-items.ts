import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { Throttle } from "../spine/throttle.ts";
import type { Catalog } from "./create-catalog.ts";
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

interface Listener {
  readonly changed: () => void;
}

/**
 * The items of all collections whose author has them listed. They are watched for as long as anybody listens, once for
 * all who do. Its maker closes it.
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
    this.#lists = entries.map((entry) => new ItemList(entry, watches, () => this.#touch()));
    this.#throttle = new Throttle({ clock, windowMs, fire: () => this.#tell() });
  }

  /** The items that are there now, collection by collection; the same array where nothing has changed. */
  list(read: ReadContent): Promise<readonly (readonly ListedItem[])[]> {
    return Promise.all(this.#lists.map((each) => each.list(read)));
  }

  /**
   * Watches which items there are: `changed` is called at once after quiet, then at most once a window, and once more after
   * the last change; not where only values or their order change. Whoever was shown a list without items, while they could
   * not be read, is told when they can. Returns what ends it, after which nothing is called.
   */
  watch(changed: () => void): () => void {
    const listener: Listener = { changed };
    const isFirst = this.#listeners.size === 0;
    // What has changed before is for those who listened before.
    if (!isFirst) for (const list of this.#lists) list.look();
    this.#listeners.add(listener);
    if (isFirst) for (const list of this.#lists) list.open();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.close();
    };
  }

  /** Ends every watch. Callable twice. */
  close(): void {
    this.#listeners.clear();
    this.#owed.clear();
    this.#throttle.dispose();
    for (const list of this.#lists) list.close();
  }

  #touch(): void {
    for (const listener of this.#listeners) this.#owed.add(listener);
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
