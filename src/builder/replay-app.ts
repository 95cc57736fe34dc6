import { authorise } from "../call/authorise.ts";
import { anonymous, defaultView, type Caller } from "../catalog/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { ChangeWaits } from "../catalog/change-waits.ts";
import { createCatalog, withTools } from "../catalog/create-catalog.ts";
import { createLiveCatalog } from "../catalog/create-live-catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { createReadResourceTool } from "../catalog/read-resource-tool.ts";
import { createUriResolver } from "../catalog/resolve-uri.ts";
import { ResourceWatches } from "../catalog/resource-watches.ts";
import { createWaitForChangeTool } from "../catalog/wait-for-change-tool.ts";
import { SurfaceError } from "../errors.ts";
import { createGatewayTools } from "../gateway/create-gateway-tools.ts";
import { HeldSurface } from "../links/held-surface.ts";
import type { Link } from "../links/link.ts";
import { Scope } from "../spine/scope.ts";
import { createClient } from "../surface/create-client.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import { createReplayTool } from "../views/create-replay-tool.ts";
import { createViews } from "../views/create-views.ts";
import { replayView } from "../views/replay-view.ts";
import type { ViewReplay } from "../views/view-replay.ts";
import type { Views } from "../views/decision.ts";
import type { AppDefinition } from "./app-definition.ts";

/** Of whom `app.replay()` is asked. */
export interface ReplayOptions {
  /** The view that they come by. Default: the caller's own, else `default`. */
  readonly surface?: string;
  readonly project?: string;
  /** Who they are. Default: somebody of whom nothing is known. */
  readonly caller?: Caller;
}

const nowhere: Link = Object.freeze({
  connect: () => Promise.reject(new SurfaceError("UNAVAILABLE", "Replaying a view: nothing is connected for it")),
});

/** What a replay is made over: an app that is opened for it, but for what it takes to be served. */
interface Offline {
  readonly definition: AppDefinition;
  readonly held: HeldSurface;
  readonly report: FaultReporter;
  readonly scope: Scope;
}

function createOfflineCatalog({ definition, held, report }: Offline): Catalog {
  const { surface, options, ...named } = definition;
  const { channel } = held;
  const uriPrefix = options.uriPrefix ?? `surface://${surface.name}/`;
  const client = createClient(surface, channel);
  return createCatalog({ ...named, surface: surface.name, uriPrefix, channel, client, report });
}

/** The tools of `pull()`, for their names and what they ask of callers: nobody calls them. */
function createPullTools(catalog: Catalog, { held: { subscriptions }, scope }: Offline): readonly ToolEntry[] {
  const watches = new ResourceWatches({ resolve: createUriResolver(catalog), subscriptions, windowMs: 0 });
  scope.add(() => watches.close());
  const waits = new ChangeWaits({ watches, find: () => undefined });
  scope.add(() => waits.close());
  return [createReadResourceTool(catalog, () => undefined), createWaitForChangeTool(waits, catalog)];
}

/** Everything that there is now, whoever asks. */
function catalogNow(offline: Offline, views: Views): Catalog {
  const { definition, report, scope } = offline;
  const written = createOfflineCatalog(offline);
  const pulled = definition.pull ? withTools(written, createPullTools(written, offline)) : written;
  const replays = (): readonly ToolEntry[] => [createReplayTool({ views, catalog: () => pulled })];
  const live = createLiveCatalog({
    base: definition.replay ? withTools(pulled, replays()) : pulled,
    mounts: definition.mounts,
    report,
  });
  scope.add(() => live.close());
  return live.current;
}

function toAsking({ surface, project, caller = anonymous }: ReplayOptions): Caller {
  const { view } = caller;
  const by = {
    ...view,
    surface: surface ?? view?.surface ?? defaultView,
    ...(project === undefined ? {} : { project }),
  };
  return { ...caller, view: by };
}

const faceTools = (shown: Catalog): readonly ToolEntry[] =>
  createGatewayTools({ catalog: () => shown, isGranted: (entry, caller) => authorise(caller, entry) === undefined });

/**
 * Tells what somebody would be shown of an app, by its rules and mounts as they are now. Opens nothing that outlives it: neither
 * a connection nor what implements the surface.
 *
 * @throws SurfaceError with a boot code.
 */
export function replayApp(definition: AppDefinition, options: ReplayOptions = {}): ViewReplay {
  const { surface } = definition;
  const report = toSafeReporter(definition.options.onFault ?? reportToConsole);
  const scope = new Scope(`a replay of the app over surface "${surface.name}"`);
  try {
    const held = new HeldSurface({ link: nowhere, surface });
    scope.add(() => held.close());
    const views = createViews(definition.views, { server: definition.options.name ?? surface.name, report });
    scope.add(() => views.close());
    const catalog = catalogNow({ definition, held, report, scope }, views);
    return replayView({ views, catalog, caller: toAsking(options), faceTools });
  } finally {
    // Nothing was connected, so that there is nothing to wait for.
    void scope.close().catch((cause: unknown) => void internalError(cause, "replaying a view", report));
  }
}
