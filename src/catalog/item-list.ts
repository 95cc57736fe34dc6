import { anonymous } from "../surface/caller.ts";
import type { ListedItem, ResourceContent, ResourceEntry } from "./entry.ts";
import { textOf } from "./resource-content.ts";
import type { ResourceWatches, Watching } from "./resource-watches.ts";
import type { Resolved } from "./resolve-uri.ts";

/** A list of keys whose items are listed. */
export type ListingEntry = ResourceEntry & Required<Pick<ResourceEntry, "toItems">>;

/** Reads what a URI resolved to, in good time; `undefined` where that cannot be. Never rejects. */
export type ReadContent = (resolved: Resolved) => Promise<ResourceContent | undefined>;

function isSame(left: readonly ListedItem[], right: readonly ListedItem[]): boolean {
  return left === right || (left.length === right.length && left.every(({ uri }, index) => uri === right[index]?.uri));
}

/** The items of one collection that are listed, and while they are watched whether others are than were shown. */
export class ItemList {
  /** The list of the keys. */
  readonly entry: ListingEntry;
  readonly #watches: ResourceWatches;
  readonly #changed: () => void;
  #watching: Watching | undefined;
  /** What whoever listens knows; `undefined` where nobody was shown anything yet. */
  #shown: readonly ListedItem[] | undefined;
  /** Somebody was shown none, since they could not be read. */
  #isShort = false;
  /** A value has come since it is watched. */
  #isOpen = false;
  #written: { readonly text: string; readonly items: readonly ListedItem[] } | undefined;

  /** @param changed - told, while it is watched, when others are there than were shown. */
  constructor(entry: ListingEntry, watches: ResourceWatches, changed: () => void) {
    this.entry = entry;
    this.#watches = watches;
    this.#changed = changed;
    watches.reserve(entry.uri);
  }

  /** Those that are there now: by the value that is watched, else by a read. None where neither can be. */
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

  /** Watches, until it is closed. */
  open(): void {
    // For all callers at once: whoever may not read it is not told.
    const wanted = { uri: this.entry.uri, resolved: this.entry, caller: anonymous };
    this.#watching = this.#watches.join(wanted, {
      // Every value as it comes: only the first matters, and one that was waited for.
      moved: () => {
        if (!this.#isOpen || this.#isShort) this.look();
      },
      changed: () => this.look(),
    });
    // Somebody else may watch it already.
    this.look();
  }

  /** Looks at once, and not when the window of its notices ends: whoever is shown it from here on has missed nothing. */
  look(): void {
    const content = this.#watches.known(this.entry);
    if (content === undefined || this.#watching === undefined) return;
    const items = this.#toItems(content);
    const wasMissed = this.#isShort && items.length > 0;
    const isNews = wasMissed || (this.#shown !== undefined && !isSame(this.#shown, items));
    this.#isOpen = true;
    this.#isShort = false;
    this.#shown = items;
    if (isNews) this.#changed();
  }

  /** Ends the watch. Callable twice. */
  close(): void {
    this.#watching?.end();
    this.#watching = undefined;
    this.#shown = undefined;
    this.#isShort = false;
    this.#isOpen = false;
  }

  #toItems(content: ResourceContent): readonly ListedItem[] {
    // A list of keys is JSON, whatever else is said of it.
    const text = textOf(content) ?? "[]";
    if (this.#written?.text !== text) this.#written = { text, items: this.entry.toItems(text) };
    return this.#written.items;
  }
}
