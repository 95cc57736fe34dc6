import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { ChangeWaits } from "../catalog/change-waits.ts";
import { createCatalog, withTools } from "../catalog/create-catalog.ts";
import { createLiveCatalog } from "../catalog/create-live-catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import { createReadResourceTool, type FindReadable } from "../catalog/read-resource-tool.ts";
import { createUriResolver, type Resolved } from "../catalog/resolve-uri.ts";
import { ResourceWatches } from "../catalog/resource-watches.ts";
import { createWaitForChangeTool } from "../catalog/wait-for-change-tool.ts";
import type { HeldSurface } from "../links/held-surface.ts";
import type { ShownChange } from "../mcp/faces.ts";
import { toFaceTools } from "../mcp/to-face-tools.ts";
import type { Scope } from "../spine/scope.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { createClient } from "../surface/create-client.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { createReplayTool } from "../views/create-replay-tool.ts";
import { createViews } from "../views/create-views.ts";
import type { Views } from "../views/decision.ts";
import type { AppDefinition } from "./app-definition.ts";

const defaultChangeWindowMs = 100;

/** What everything in an app is made of, for requests and for replays alike. */
export interface WholeParts {
  readonly definition: AppDefinition;
  /** Reached with the first use: whoever only looks may hold one that cannot be. */
  readonly held: HeldSurface;
  readonly report: FaultReporter;
  /** Whatever is to be closed with it. */
  readonly scope: Scope;
}

/** What the tools of `pull()` look at when they run: of what their callers are shown. */
export interface Finding {
  readonly open: (uri: string, caller: Caller) => Resolved | undefined;
  readonly readable: FindReadable;
  /** Tells when other resources may be found, and why. Returns what stops that. */
  readonly onShown: (told: (why: ShownChange) => void) => () => void;
}

/** Everything that an app has for agents, and what says who sees which of it. */
export interface Whole {
  /** What the author wrote, without the tools that were asked for besides. */
  readonly written: Catalog;
  readonly live: LiveCatalog;
  readonly views: Views;
  readonly watches: ResourceWatches;
  /** The shortest time between two notices of one change, in milliseconds. */
  readonly windowMs: number;
}

/** Everything but what is there only while something runs. */
function createWritten({ definition, held, report }: WholeParts, client: SurfaceClient<unknown>): Catalog {
  const { surface, options, exposures, tools, prompts, resources, context } = definition;
  const { channel } = held;
  return createCatalog({
    surface: surface.name,
    exposures,
    tools,
    prompts,
    resources,
    uriPrefix: options.uriPrefix ?? `surface://${surface.name}/`,
    channel,
    client,
    contexts: { make: context, report },
    report,
  });
}

function createOpenViews({ definition, report, scope }: WholeParts, { tools }: Catalog): Views {
  const { surface, options } = definition;
  const views = createViews(definition.views, { server: options.name ?? surface.name, tools, report });
  scope.add(() => views.close());
  return views;
}

function createOpenLive(
  { definition, report, scope }: WholeParts,
  base: Catalog,
  client: SurfaceClient<unknown>,
): LiveCatalog {
  const { mounts, context } = definition;
  const live = createLiveCatalog({ base, mounts, report, client, contexts: { make: context, report } });
  scope.add(() => live.close());
  return live;
}

function createPullTools(
  { scope }: WholeParts,
  { written, watches }: Pick<Whole, "written" | "watches">,
  find: Finding,
): readonly ToolEntry[] {
  const waits = new ChangeWaits({ watches, find: find.open, onShown: find.onShown });
  scope.add(() => waits.close());
  return [createReadResourceTool(written, find.readable), createWaitForChangeTool(waits, written)];
}

/**
 * Makes everything that an app has for agents: the one function that the wire and replays have it from. It connects nothing and
 * runs no handler; what has to be closed is added to the scope.
 *
 * @throws SurfaceError with a boot code.
 */
export function createWhole(parts: WholeParts, find: Finding): Whole {
  const { definition, held, scope } = parts;
  const client = createClient(definition.surface, held.channel);
  const written = createWritten(parts, client);
  const views = createOpenViews(parts, written);
  const windowMs = definition.options.changeWindowMs ?? defaultChangeWindowMs;
  const { subscriptions } = held;
  const watches = new ResourceWatches({ resolve: createUriResolver(written), subscriptions, windowMs });
  scope.add(() => watches.close());
  const added = definition.pull ? [...createPullTools(parts, { written, watches }, find)] : [];
  // The tool that replays is in what it tells of, and asks for that when it runs.
  const later: { live?: LiveCatalog } = {};
  const catalog = (): Catalog => later.live?.current ?? written;
  if (definition.replay) added.push(createReplayTool({ views, catalog, faceTools: toFaceTools }));
  const live = createOpenLive(parts, added.length === 0 ? written : withTools(written, added), client);
  later.live = live;
  return { written, live, views, watches, windowMs };
}
