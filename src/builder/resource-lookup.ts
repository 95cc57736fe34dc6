import { authorise } from "../call/authorise.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import type { ListedItems, MayList } from "../catalog/resources/listed-items.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { ResourceWatches } from "../catalog/resources/resource-watches.ts";
import type { WatchListener } from "../catalog/resources/watched-resource.ts";
import type { LargeValues, Readable } from "../mcp/large-values.ts";
import type { ListName } from "../mcp/lists.ts";
import type { AppResources } from "../mcp/servable-app.ts";
import type { ViewResolver } from "../mcp/view-resolver.ts";
import type { Caller } from "../surface/caller.ts";

/** Dependencies of {@link ResourceLookup}. */
export interface ResourceLookupDeps {
  readonly resolver: ViewResolver;
  readonly watches: ResourceWatches;
  /** `undefined` if no items of the list of resources come and go. */
  readonly items: ListedItems | undefined;
  readonly large: LargeValues;
}

function authorizedOrUndefined<TEntry extends EntryGuard>(
  entry: TEntry | undefined,
  caller: Caller,
): TEntry | undefined {
  return entry === undefined || authorise(caller, entry) !== undefined ? undefined : entry;
}

/** Finds and watches resources for callers, in what their views show. */
export class ResourceLookup implements AppResources {
  readonly #deps: ResourceLookupDeps;

  constructor(deps: ResourceLookupDeps) {
    this.#deps = deps;
  }

  /** Returns the resource of a URI if the caller may read it. */
  granted(uri: string, caller: Caller): Resolved | undefined {
    return authorizedOrUndefined(this.#shown(uri, caller), caller);
  }

  /** Returns the resource of a URI, or the part of a large value, if the caller may read it. */
  readable(uri: string, caller: Caller): Readable | undefined {
    const { resolver, large } = this.#deps;
    const view = resolver.shownTo(caller);
    return (
      view && authorizedOrUndefined(large.resolve(uri, { caller, rules: view.rules }) ?? view.resource(uri), caller)
    );
  }

  has(caller: Caller, uri: string): boolean {
    return this.granted(uri, caller) !== undefined;
  }

  hasRoom(caller: Caller, uris: Iterable<string>): boolean {
    return this.#deps.watches.hasRoom(uris, caller);
  }

  lacking(caller: Caller, uri: string): readonly string[] | undefined {
    const resolved = this.#shown(uri, caller);
    return resolved && authorise(caller, resolved)?.scopes;
  }

  watchList(caller: Caller, list: ListName, changed: () => void): () => void {
    const { resolver, items } = this.#deps;
    const stop = resolver.watchList(list, caller, changed);
    if (list !== "resources" || items === undefined) return stop;
    const end = this.#watchItems(items, caller, changed);
    return () => {
      stop();
      end();
    };
  }

  /**
   * Watches a resource while the view shows it. Reports a change when it is shown again, and when it is gone, but not when rules hide
   * it.
   */
  watch(caller: Caller, uri: string, told: WatchListener): (() => void) | undefined {
    const { watches, resolver } = this.#deps;
    const first = this.granted(uri, caller);
    if (first === undefined) return undefined;
    const endFirst = watches.watch({ uri, resolved: first, caller }, told);
    if (!resolver.canChange) return endFirst;
    let last: Resolved | undefined = first;
    let end = endFirst;
    const stop = resolver.subscribe((what) => {
      const now = this.granted(uri, caller);
      if (now?.id === last?.id) return;
      // The watcher may know already that the resource is gone.
      const isKnown =
        now === undefined && (what === "rules" || watches.isAbsent({ uri, resolved: last ?? first, caller }));
      end();
      last = now;
      // Without the other listeners: the watch is open already.
      const changed = (): void => told.changed();
      end = now === undefined ? () => {} : watches.watch({ uri, resolved: now, caller }, { changed });
      if (!isKnown) changed();
    });
    return () => {
      stop();
      end();
    };
  }

  #shown(uri: string, caller: Caller): Resolved | undefined {
    return this.#deps.resolver.shownTo(caller)?.resource(uri);
  }

  #watchItems(items: ListedItems, caller: Caller, changed: () => void): () => void {
    const { resolver } = this.#deps;
    const mayListNow = (): MayList => {
      const listed = new Set<unknown>(resolver.shownTo(caller)?.listedFor(caller).resources);
      return (entry) => listed.has(entry);
    };
    let mayList = mayListNow();
    let end = items.watch(changed, mayList);
    const stop = resolver.subscribe(() => {
      const now = mayListNow();
      if (items.visibleTo(now) === items.visibleTo(mayList)) return;
      end();
      mayList = now;
      end = items.watch(changed, mayList);
    });
    return () => {
      stop();
      end();
    };
  }
}
