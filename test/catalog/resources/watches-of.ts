import { ResourceLookup } from "../../../src/builder/resource-lookup.ts";
import type { AnyBespokeResource } from "../../../src/catalog/custom/bespoke-resource.ts";
import { createCatalog } from "../../../src/catalog/create-catalog.ts";
import { createLiveCatalog } from "../../../src/catalog/mounts/live-catalog.ts";
import { LargeValues } from "../../../src/mcp/large-values.ts";
import { CatalogLists } from "../../../src/mcp/lists.ts";
import { ViewResolver } from "../../../src/mcp/view-resolver.ts";
import { Views } from "../../../src/views/views.ts";
import { createListedItems } from "../../../src/catalog/resources/listed-items.ts";
import { readTags } from "../../../src/catalog/read-exposures.ts";
import { createUriResolver } from "../../../src/catalog/resolve-uri.ts";
import { ResourceWatches } from "../../../src/catalog/resources/resource-watches.ts";
import { ReconnectingSurface } from "../../../src/links/reconnecting-surface.ts";
import type { Link } from "../../../src/links/link.ts";
import { createClient } from "../../../src/surface/create-client.ts";
import type { Surface } from "../../../src/surface/define-surface.ts";
import type { SurfaceClient } from "../../../src/surface/client.ts";
import type { Spec } from "../../../src/surface/member.ts";

/** What an app watches with, without the app: what it keeps can be counted. */
export function watchesOf(surface: Surface<Spec>, link: Link, more: Readonly<Record<string, AnyBespokeResource>> = {}) {
  const held = new ReconnectingSurface({ link, surface });
  const { channel, subscriptions } = held;
  const catalog = createCatalog({
    surface: surface.name,
    exposures: readTags(surface),
    tools: new Map(),
    resources: new Map(Object.entries(more)),
    uriPrefix: `surface://${surface.name}/`,
    channel,
    // What it is a client of is known by who calls.
    client: createClient(surface, channel) as SurfaceClient<unknown>,
    report: () => {},
  });
  const watches = new ResourceWatches({ resolve: createUriResolver(catalog), subscriptions, windowMs: 0 });
  const items = createListedItems({ catalog, watches, windowMs: 0 });
  const close = async (): Promise<void> => {
    items?.close();
    watches.close();
    await held.close();
  };
  const resolver = new ViewResolver({
    live: createLiveCatalog({ base: catalog, mounts: new Map(), report: () => {} }),
    views: new Views(undefined),
    watches,
    instructions: undefined,
    lists: new CatalogLists(1000),
    windowMs: 0,
    report: () => {},
  });
  const lookup = new ResourceLookup({
    resolver,
    watches,
    items,
    large: new LargeValues({ uriPrefix: catalog.uriPrefix }),
  });
  return { watches, items, resources: lookup, close };
}
