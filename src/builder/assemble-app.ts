import { createInvoker } from "../call/create-invoker.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { ChangeWaits } from "../catalog/resources/change-waits.ts";
import { createCatalog, withTools } from "../catalog/create-catalog.ts";
import { createLiveCatalog, type LiveCatalog } from "../catalog/mounts/live-catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { toGuard, type CatalogScopes } from "../catalog/entry-scopes.ts";
import { createListedItems } from "../catalog/resources/listed-items.ts";
import { createReadResourceTool, createWaitForChangeTool } from "../catalog/resources/pull-tools.ts";
import { createUriResolver } from "../catalog/resolve-uri.ts";
import { ResourceWatches } from "../catalog/resources/resource-watches.ts";
import { SurfaceError } from "../errors.ts";
import { ReconnectingSurface } from "../links/reconnecting-surface.ts";
import type { LinkChange } from "../links/dial-link.ts";
import { inProcess } from "../links/in-process.ts";
import type { Link } from "../links/link.ts";
import type { Extension } from "../mcp/extensions/extensions.ts";
import type { OpenSkills, Skill } from "../mcp/extensions/skill.ts";
import { appsExtension } from "../mcp/extensions/apps-extension.ts";
import { AskStates } from "../mcp/asking/ask-states.ts";
import { InputRequired } from "../mcp/asking/input-required.ts";
import { createHandlers } from "../mcp/handlers.ts";
import { LargeValues } from "../mcp/large-values.ts";
import { defaultFrameLimits } from "../mcp/parse-frame.ts";
import { CatalogLists } from "../mcp/lists.ts";
import type { AppRuntime, ServerInfo } from "../mcp/servable-app.ts";
import { ViewResolver } from "../mcp/view-resolver.ts";
import { isRecord } from "../options/is-object.ts";
import { filledText, option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { Scope } from "../spine/scope.ts";
import { anonymous, withChosenView, type Caller } from "../surface/caller.ts";
import { createClient } from "../surface/create-client.ts";
import {
  createReporter,
  internalError,
  reportToConsole,
  toSafeReporter,
  type FaultReporter,
} from "../surface/fault.ts";
import { freezeDisplayMetadata } from "../tags/display-metadata.ts";
import { createReplayTool, replayView, type ViewReplay } from "../views/replay-view.ts";
import { assertViewName, Views } from "../views/views.ts";
import type { AppAtRest, AppDefinition } from "./app-definition.ts";
import { assertReach, warnAuthor } from "./author-warnings.ts";
import { observeLink, observeMounts } from "./observe-backend.ts";
import { assertExactNames, toMountedGate } from "./exact-names.ts";
import { ResourceLookup } from "./resource-lookup.ts";
import { toDefined } from "../observe/to-defined.ts";

interface AssembleDeps {
  readonly definition: AppDefinition;
  readonly held: ReconnectingSurface;
  readonly report: FaultReporter;
  readonly scope: Scope;
}

function owned<TOwned extends { close(): void | Promise<void> }>(scope: Scope, created: TOwned): TOwned {
  scope.add(() => created.close());
  return created;
}

/** Creates the entries of an app and the views of them, for requests and replays. Neither connects nor runs a handler. */
function assembleViews({ definition, held, report, scope }: AssembleDeps) {
  const { surface, options, exposures, mounts, context } = definition;
  const { channel, subscriptions } = held;
  const { name = surface.name, uriPrefix = `surface://${surface.name}/`, instructions } = options;
  const { changeWindowMs: windowMs, pageSize } = options;
  const client = createClient(surface, channel);
  const contexts = { make: context, report };
  const { tools, prompts, resources } = definition;
  const written = createCatalog({
    ...{ surface: surface.name, exposures, tools, prompts, resources },
    ...{ uriPrefix, channel, client, contexts, report },
  });
  const views = owned(scope, new Views(definition.views, { server: name, tools: written.tools, report }));
  const watches = owned(scope, new ResourceWatches({ resolve: createUriResolver(written), subscriptions, windowMs }));
  const added: ToolEntry[] = [];
  if (definition.pull) {
    // These tools look up resources in views of the catalog that they are part of, when they are called.
    const waits = new ChangeWaits({
      watches,
      find: (uri, caller) => lookup.granted(uri, caller),
      onShown: (changed) => resolver.subscribe(changed),
    });
    owned(scope, waits);
    added.push(createReadResourceTool(written, (uri, caller) => lookup.readable(uri, caller)));
    added.push(createWaitForChangeTool(waits, written));
  }
  const { read: readScope } = written.scopes;
  if (definition.replay) added.push(createReplayTool({ views, readScope, catalog: (): Catalog => live.current }));
  const base = added.length === 0 ? written : withTools(written, added);
  const gates = [toMountedGate(definition.exact), definition.lock?.(definition, { catalog: base, views })];
  const live: LiveCatalog = owned(scope, createLiveCatalog({ base, mounts, report, client, contexts, gates }));
  const items = createListedItems({ catalog: written, watches, windowMs });
  if (items !== undefined) owned(scope, items);
  const lists = new CatalogLists(pageSize);
  const resolver: ViewResolver = owned(
    scope,
    new ViewResolver({ live, views, watches, lists, instructions, windowMs, report }),
  );
  const large = owned(scope, new LargeValues({ ...options, uriPrefix }));
  const lookup: ResourceLookup = new ResourceLookup({ resolver, watches, items, large });
  return { base, live, views, resolver, lookup, lists, watches, items, large };
}

/** Creates the connection to the live surface, which connects with its first use. Throws if the surface can never fit the link. */
function openBackend(definition: AppDefinition, scope: Scope, report: FaultReporter): ReconnectingSurface {
  const { surface, observers, inspected } = definition;
  const link = openLink(definition, scope);
  link.check?.(surface);
  const noteLink = (change: LinkChange | "unreachable"): void => {
    inspected.noteLink(change);
    observeLink(observers, surface.name, change);
  };
  const onUnreachable = (cause: unknown): void => {
    internalError(cause, `reaching surface "${surface.name}"`, report);
    noteLink("unreachable");
  };
  return owned(scope, new ReconnectingSurface({ link, surface, onUnreachable, onLink: noteLink }));
}

function openLink({ backend, surface, options: { onFault, toRefusal } }: AppDefinition, scope: Scope): Link {
  if (backend === undefined) {
    throw new SurfaceError(
      "NOT_LINKED",
      `Cannot serve surface "${surface.name}": it has no link; call bridge() or implement()`,
    );
  }
  if (backend.kind === "link") {
    const kept = backend.link.keep?.({ onFault, toRefusal });
    return kept === undefined ? backend.link : owned(scope, kept);
  }
  return inProcess(owned(scope, backend.implement({ onFault, toRefusal })));
}

/** Returns the name, version and description of an app. */
export function toInfo({ surface, options }: Pick<AppDefinition, "surface" | "options">): ServerInfo {
  const { name = surface.name, version, title, description, websiteUrl, icons } = options;
  return Object.freeze({
    name,
    version,
    ...toDefined({ title, description, websiteUrl }),
    ...freezeDisplayMetadata(icons === undefined ? {} : { icons }),
  });
}

/** Reads the skills of an app; `undefined` if it has none. @throws SurfaceError `INVALID_OPTION`. */
export function openSkills(
  { surface, options }: Pick<AppDefinition, "surface" | "options">,
  { scopes }: Pick<Catalog, "scopes">,
): OpenSkills | undefined {
  return options.skills?.open(surface.name, toGuard(scopes.read, {}));
}

/** Reads the skills, and returns them and the extensions. Mounted operations have no pages, so the entries at boot decide. */
function openExtensions(definition: AppDefinition, base: Catalog): readonly [readonly Extension[], readonly Skill[]] {
  const pages = base.tools.some(({ ui }) => ui !== undefined) ? [appsExtension] : [];
  const opened = openSkills(definition, base);
  return opened === undefined ? [pages, []] : [[...pages, opened], opened.skills];
}

/** Returns the scopes that callers can be granted. Mounted entries may add more later. */
function toLiveScopes(live: LiveCatalog): CatalogScopes {
  const { read, write } = live.current.scopes;
  return Object.freeze({
    read,
    write,
    get all() {
      return live.current.scopes.all;
    },
  });
}

function openServices(definition: AppDefinition, scope: Scope): Omit<AppRuntime, "close"> {
  const { options, tools, prompts, resources, mounts, observers, confirm, inspected } = definition;
  const { info, calls, approvals } = inspected.parts;
  const report = createReporter(options);
  const held = openBackend(definition, scope, report);
  const views = assembleViews({ definition, held, report, scope });
  const { live, resolver, lookup, watches, items, large } = views;
  assertExactNames(definition, views.base);
  const mounted = [...mounts.keys()];
  assertReach(tools, live.current, mounted);
  scope.add(warnAuthor(live, views.views, mounted));
  if (mounted.length > 0) scope.add(observeMounts(observers, live));
  const find = (id: string): ToolEntry | undefined => live.current.toolOf(id) ?? live.current.tool(id);
  const asked = { confirm, approvals, askTimeouts: options.asking?.timeoutMs };
  const invoker = createInvoker({ report, changes: watches.changes, tree: calls, find, ...asked });
  owned(scope, invoker);
  const [extensions, skills] = openExtensions(definition, views.base);
  scope.add(inspected.add({ live, views: views.views, viewFor: resolver.resolve, watches, skills }));
  const states = new AskStates({ ...options.asking, app: info.name });
  const asking = new InputRequired(states, report);
  const { pageSize } = options;
  return {
    info,
    viewFor: resolver.resolve,
    resources: lookup,
    handlers: createHandlers({ ...views, catalog: live.current, extensions, invoker, report, asking, pageSize }),
    extensions,
    assertView: (name, doing) => assertViewName(views.views, name, doing),
    changing: items === undefined ? resolver.changing : new Set([...resolver.changing, "resources" as const]),
    scopes: toLiveScopes(live),
    isReady: (signal) => held.isReachable(signal),
    limits: defaultFrameLimits,
    schemaBytes: live.schemas,
    countParts: (budget) => large.countIn(budget),
    join: (cluster) => {
      const reportShared = (cause: unknown): void => void internalError(cause, "sharing changes with replicas", report);
      large.shareIn(cluster.store);
      for (const leave of [
        watches.share(cluster, reportShared),
        views.views.share(cluster.bus),
        states.shareIn(cluster),
      ])
        scope.add(leave);
    },
    // Only hand-written and mounted handlers write to the client's log.
    logs: tools.size + prompts.size + resources.size + mounts.size > 0,
    report,
    observers,
  };
}

/** Opens an app: its connection, catalog and handlers. Closes everything again if a step fails. @throws SurfaceError with a boot code. */
export function assembleApp(definition: AppDefinition): AppRuntime {
  const scope = new Scope(`the app over surface "${definition.surface.name}"`);
  try {
    return Object.freeze({ ...openServices(definition, scope), close: () => scope.close() });
  } catch (cause) {
    void scope.close();
    throw cause;
  }
}

/** Options of `app.replay()`: the caller to replay the view of. */
export interface ReplayOptions {
  /** The view that the caller requests. @default the view of `caller`, else `default` */
  readonly surface?: string;
  readonly project?: string;
  /** @default an anonymous caller */
  readonly caller?: Caller;
}

const replayFields: OptionFields<ReplayOptions> = {
  surface: filledText,
  project: filledText,
  caller: option("an object", isRecord),
};

const unconnected: Link = Object.freeze({
  connect: () =>
    Promise.reject(new SurfaceError("UNAVAILABLE", "Cannot connect: a view of an app at rest has no connection")),
});

/**
 * Calls `read` with the entries and views of an app, by its rules and mounts as of now. Neither connects nor implements the surface.
 *
 * @param report - receives the faults of mounts and rules.
 * @throws SurfaceError with a boot code, and errors of `read`.
 */
export function readAtRest<TResult>(
  definition: AppDefinition,
  report: FaultReporter,
  read: (app: AppAtRest) => TResult,
): TResult {
  const { surface } = definition;
  const scope = new Scope(`the app over surface "${surface.name}", at rest`);
  try {
    const held = owned(scope, new ReconnectingSurface({ link: unconnected, surface }));
    const { live, views } = assembleViews({ definition, held, report, scope });
    return read({ catalog: live.current, views });
  } finally {
    // Nothing was connected, so there is nothing to wait for.
    void scope.close().catch((cause: unknown) => void internalError(cause, "closing an app at rest", report));
  }
}

/**
 * Returns what an app shows to a caller, by its rules and mounts as of now. Neither connects nor implements the surface.
 *
 * @throws SurfaceError with a boot code, `INVALID_OPTION`.
 */
export function replayApp(definition: AppDefinition, options: ReplayOptions = {}): ViewReplay {
  const { caller = anonymous, ...requested } = readOptions(options, replayFields, "Cannot call replay()");
  const report = toSafeReporter(definition.options.onFault ?? reportToConsole);
  return readAtRest(definition, report, ({ views, catalog }) =>
    replayView({ views, catalog, caller: withChosenView(caller, requested) }),
  );
}
