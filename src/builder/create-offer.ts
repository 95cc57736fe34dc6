import type { Catalog } from "../catalog/catalog.ts";
import { ChangeWaits } from "../catalog/change-waits.ts";
import { createCatalog, withTools } from "../catalog/create-catalog.ts";
import { createLiveCatalog } from "../catalog/create-live-catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { createListedItems, type ListedItems } from "../catalog/listed-items.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import { createReadResourceTool } from "../catalog/read-resource-tool.ts";
import { createUriResolver } from "../catalog/resolve-uri.ts";
import { ResourceWatches } from "../catalog/resource-watches.ts";
import { createWaitForChangeTool } from "../catalog/wait-for-change-tool.ts";
import type { HeldSurface } from "../links/held-surface.ts";
import { createFaces } from "../mcp/create-faces.ts";
import { FaceLists } from "../mcp/face-lists.ts";
import type { Faces } from "../mcp/faces.ts";
import { LargeValues } from "../mcp/large-values.ts";
import { toFaceTools } from "../mcp/to-face-tools.ts";
import type { Scope } from "../spine/scope.ts";
import { createClient } from "../surface/create-client.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { createReplayTool } from "../views/create-replay-tool.ts";
import { createViews } from "../views/create-views.ts";
import type { Views } from "../views/decision.ts";
import { viewWarnings } from "../views/view-warnings.ts";
import type { AppDefinition } from "./app-definition.ts";
import { createDress } from "./create-dress.ts";
import { ReadableUris } from "./readable-uris.ts";

const defaultPageSize = 1000;
const defaultChangeWindowMs = 100;

/** What an app offers to agents is made of. */
export interface OfferParts {
  readonly definition: AppDefinition;
  readonly held: HeldSurface;
  readonly report: FaultReporter;
  /** Whatever is to be closed with the app. */
  readonly scope: Scope;
}

/** What exists for agents, what of it they are shown, and how what can be read is found and watched. */
export interface Offer {
  readonly live: LiveCatalog;
  readonly faces: Faces;
  readonly lists: FaceLists;
  readonly uris: ReadableUris;
  readonly large: LargeValues;
  readonly watches: ResourceWatches;
  readonly items: ListedItems | undefined;
  readonly pageSize: number;
  /** Sentences for the author. */
  readonly warnings: readonly string[];
}

/** Everything but what is there only while something runs. */
function createWritten({ definition, held, report }: OfferParts): Catalog {
  const { surface, options, exposures, tools, prompts, resources } = definition;
  const { channel } = held;
  return createCatalog({
    surface: surface.name,
    exposures,
    tools,
    prompts,
    resources,
    uriPrefix: options.uriPrefix ?? `surface://${surface.name}/`,
    channel,
    client: createClient(surface, channel),
    report,
  });
}

/** What the tools that are added to a catalog look at when they run: made after them, of the catalog with them. */
interface Later {
  uris?: ReadableUris;
  live?: LiveCatalog;
}

/** What tools that are added are made of. */
interface Adding {
  readonly written: Catalog;
  readonly views: Views;
  readonly watches: ResourceWatches;
  readonly later: Later;
}

function createAdded({ definition, scope }: OfferParts, { written, views, watches, later }: Adding): ToolEntry[] {
  const added: ToolEntry[] = [];
  if (definition.pull) {
    const waits = new ChangeWaits({ watches, find: (uri, caller) => later.uris?.findOpen(uri, caller) });
    scope.add(() => waits.close());
    added.push(createReadResourceTool(written, (uri, caller) => later.uris?.findReadableOpen(uri, caller)));
    added.push(createWaitForChangeTool(waits, written));
  }
  if (definition.replay) {
    const catalog = (): Catalog => later.live?.current ?? written;
    added.push(createReplayTool({ views, catalog, faceTools: toFaceTools }));
  }
  return added;
}

function createOpenViews({ definition, report, scope }: OfferParts, { tools }: Catalog): Views {
  const { surface, options } = definition;
  const views = createViews(definition.views, { server: options.name ?? surface.name, tools, report });
  scope.add(() => views.close());
  return views;
}

function createOpenLive({ definition, report, scope }: OfferParts, base: Catalog): LiveCatalog {
  const live = createLiveCatalog({ base, mounts: definition.mounts, report });
  scope.add(() => live.close());
  return live;
}

/** What is shown of a catalog, and how it is found. */
function createShown({ definition, scope }: OfferParts, live: LiveCatalog, { views, watches, later }: Adding): Shown {
  const { options } = definition;
  const { pageSize = defaultPageSize, changeWindowMs: windowMs = defaultChangeWindowMs, instructions } = options;
  const lists = new FaceLists(pageSize);
  const dress = definition.pull
    ? createDress((uri, caller) => later.uris?.findReadableOpen(uri, caller))
    : (catalog: Catalog): Catalog => catalog;
  const faces = createFaces({ live, views, instructions, dress, lists, windowMs });
  scope.add(() => faces.close());
  const large = new LargeValues({ uriPrefix: live.current.uriPrefix, ...options });
  scope.add(() => large.close());
  const uris = new ReadableUris({ faces, watches, large });
  return { faces, lists, uris, large, pageSize };
}

type Shown = Pick<Offer, "faces" | "lists" | "uris" | "large" | "pageSize">;

/** Makes what an app offers to agents. What has to be closed is added to the scope. @throws SurfaceError with a boot code. */
export function createOffer(parts: OfferParts): Offer {
  const { definition, held, scope } = parts;
  const written = createWritten(parts);
  const views = createOpenViews(parts, written);
  const windowMs = definition.options.changeWindowMs ?? defaultChangeWindowMs;
  const { subscriptions } = held;
  const watches = new ResourceWatches({ resolve: createUriResolver(written), subscriptions, windowMs });
  scope.add(() => watches.close());
  const items = createListedItems({ catalog: written, watches, windowMs });
  scope.add(() => items?.close());
  const adding: Adding = { written, views, watches, later: {} };
  const added = createAdded(parts, adding);
  const live = createOpenLive(parts, added.length === 0 ? written : withTools(written, added));
  const shown = createShown(parts, live, adding);
  adding.later.live = live;
  adding.later.uris = shown.uris;
  const mounted = [...definition.mounts.keys()];
  const warnings = [...live.current.warnings, ...viewWarnings(views, live.current, mounted)];
  return { ...shown, live, watches, items, warnings };
}
