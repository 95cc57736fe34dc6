import type { Caller } from "../surface/caller.ts";
import type { ListedItems, MayList } from "../catalog/listed-items.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { ResourceWatches } from "../catalog/resource-watches.ts";
import type { Faces } from "../mcp/faces.ts";
import type { ResourceWatcher } from "../mcp/servable-app.ts";
import type { ReadableUris } from "./readable-uris.ts";

/** What callers watch. */
export interface WatchSources {
  readonly watches: ResourceWatches;
  /** Left out where the list of resources has nothing that comes and goes. */
  readonly items: ListedItems | undefined;
  readonly faces: Faces;
  readonly uris: Pick<ReadableUris, "findOpen">;
}

/** What somebody watches, and is told of it. */
interface Watched {
  readonly uri: string;
  readonly caller: Caller;
  readonly changed: () => void;
  readonly opened: ((isThere: boolean) => void) | undefined;
}

/**
 * Watches what a URI names for as long as its caller is shown it, and again when they are again: that is one change. That it is there
 * no more is another; that rules hide it is told to nobody.
 */
function watchShown({ watches, faces, uris }: WatchSources, watched: Watched, resolved: Resolved): () => void {
  const { uri, caller, changed, opened } = watched;
  let shown: Resolved | undefined = resolved;
  let end = watches.watch({ uri, resolved, caller }, { changed, opened });
  const stop = faces.subscribe((what) => {
    const now = uris.findOpen(uri, caller);
    if (now?.id === shown?.id) return;
    // Whoever knows already that there is nothing is told nothing new.
    const isKnown =
      now === undefined && (what === "rules" || watches.isAbsent({ uri, resolved: shown ?? resolved, caller }));
    end();
    shown = now;
    end = now === undefined ? () => {} : watches.watch({ uri, resolved: now, caller }, { changed });
    if (!isKnown) changed();
  });
  return () => {
    stop();
    end();
  };
}

/** Watches the items that a caller is shown, of other collections when they are shown others. */
function watchItems(
  items: ListedItems,
  faces: Faces,
  { caller, changed }: Pick<Watched, "caller" | "changed">,
): () => void {
  const mayNow = (): MayList => {
    const face = faces.of(caller);
    const listed = new Set<unknown>("kind" in face ? [] : face.listedFor(caller).resources);
    return (entry) => listed.has(entry);
  };
  let may = mayNow();
  let end = items.watch(changed, may);
  const stop = faces.subscribe(() => {
    const now = mayNow();
    if (items.visibleTo(now) === items.visibleTo(may)) return;
    end();
    may = now;
    end = items.watch(changed, may);
  });
  return () => {
    stop();
    end();
  };
}

/**
 * Makes what says, for each caller, what they may watch: what they are not shown, or were not granted, is not there. Nothing is
 * kept of a caller who watches nothing.
 */
export function createResourcesFor(sources: WatchSources): (caller: Caller) => ResourceWatcher {
  const { watches, items, faces, uris } = sources;
  return (caller) => ({
    watch(uri, changed, opened) {
      const resolved = uris.findOpen(uri, caller);
      return resolved && watchShown(sources, { uri, caller, changed, opened }, resolved);
    },
    has: (uri) => uris.findOpen(uri, caller) !== undefined,
    hasRoom: (all) => watches.hasRoom(all, caller),
    watchList(list, changed) {
      const stop = faces.watchList(list, caller, changed);
      if (list !== "resources" || items === undefined) return stop;
      const end = watchItems(items, faces, { caller, changed });
      return () => {
        stop();
        end();
      };
    },
  });
}
