import type { Caller } from "../catalog/caller.ts";
import type { ListedItems } from "../catalog/listed-items.ts";
import type { ResourceWatches } from "../catalog/resource-watches.ts";
import type { ResourceWatcher } from "../mcp/servable-app.ts";
import { ifGranted } from "./if-granted.ts";

/** What callers watch. */
export interface WatchSources {
  readonly watches: ResourceWatches;
  /** Left out where the list of resources never changes. */
  readonly items: ListedItems | undefined;
}

/**
 * Makes what says, for each caller, what they may watch: what they were not granted is not there. Nothing is kept of a
 * caller who watches nothing.
 */
export function createResourcesFor({ watches, items }: WatchSources): (caller: Caller) => ResourceWatcher {
  return (caller) => ({
    watch(uri, changed, opened) {
      const resolved = ifGranted(watches.resolve(uri), caller);
      return resolved && watches.watch({ uri, resolved, caller }, { changed, opened });
    },
    hasRoom: (uris) => watches.hasRoom(uris, caller),
    watchList(list, changed) {
      if (list !== "resources" || items === undefined) return () => {};
      return items.watch(changed, (entry) => ifGranted(entry, caller) !== undefined);
    },
  });
}
