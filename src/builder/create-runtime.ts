import { authorise } from "../call/authorise.ts";
import { createInvoker } from "../call/create-invoker.ts";
import { anonymous, type Caller } from "../catalog/caller.ts";
import { ChangeWaits } from "../catalog/change-waits.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { createCatalog, withTools } from "../catalog/create-catalog.ts";
import { createReadResourceTool } from "../catalog/read-resource-tool.ts";
import { createUriResolver } from "../catalog/resolve-uri.ts";
import { createListedItems, type ListedItems } from "../catalog/listed-items.ts";
import { ResourceWatches } from "../catalog/resource-watches.ts";
import { createWaitForChangeTool } from "../catalog/wait-for-change-tool.ts";
import { SurfaceError } from "../errors.ts";
import { inProcess } from "../links/in-process.ts";
import { HeldSurface } from "../links/held-surface.ts";
import type { Link } from "../links/link.ts";
import type { ListName } from "../mcp/faces.ts";
import { createHandlers } from "../mcp/handlers.ts";
import { headerParamsOf } from "../mcp/header-params.ts";
import { LargeValues, type Readable } from "../mcp/large-values.ts";
import { defaultFrameLimits } from "../mcp/limits.ts";
import type { AppRuntime, ServerInfo } from "../mcp/servable-app.ts";
import { Scope } from "../spine/scope.ts";
import { createClient } from "../surface/create-client.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import { keepLooks } from "../tags/looks.ts";
import type { AppDefinition } from "./app-definition.ts";
import { createResourcesFor } from "./create-resources-for.ts";
import { ifGranted } from "./if-granted.ts";

const defaultPageSize = 1000;
const defaultChangeWindowMs = 100;

function openReach(definition: AppDefinition, scope: Scope): Link {
  const { reach, surface, options } = definition;
  if (reach === undefined) {
    throw new SurfaceError(
      "NOT_LINKED",
      `Serving surface "${surface.name}": it has no link; call bridge() or implement()`,
    );
  }
  if (reach.kind === "link") {
    const kept = reach.link.keep?.({ onFault: options.onFault });
    if (kept !== undefined) scope.add(() => kept.close());
    return kept ?? reach.link;
  }
  const live = reach.implement(options.onFault);
  scope.add(() => live.close());
  return inProcess(live);
}

function toInfo({ surface, options }: AppDefinition): ServerInfo {
  const { name = surface.name, version = "0.0.0", title, description, websiteUrl, icons } = options;
  return Object.freeze({
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
    ...keepLooks(icons === undefined ? {} : { icons }),
  });
}

/** Where faults are told: one reporter, however often it is asked for. */
function reporterOf({ options }: AppDefinition): FaultReporter {
  return toSafeReporter(options.onFault ?? reportToConsole);
}

function warn(warnings: readonly string[]): void {
  for (const warning of warnings) {
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning at boot belongs
    console.error(`[surface-mcp] warning: ${warning}`);
  }
}

/** What exists for agents, and how what can be read is found and watched. */
interface Offer {
  readonly catalog: Catalog;
  /** Finds what can be read: resources, and the parts of what was too large for one answer. */
  readonly resolve: (uri: string, caller: Caller) => Readable | undefined;
  readonly large: LargeValues;
  readonly watches: ResourceWatches;
  readonly items: ListedItems | undefined;
}

function createOffer(definition: AppDefinition, held: HeldSurface, scope: Scope): Offer {
  const { surface, options, exposures, tools, prompts, resources, pull } = definition;
  const { channel, subscriptions } = held;
  const report = reporterOf(definition);
  const client = createClient(surface, channel);
  const uriPrefix = options.uriPrefix ?? `surface://${surface.name}/`;
  const catalog = createCatalog({
    surface: surface.name,
    exposures,
    tools,
    prompts,
    resources,
    uriPrefix,
    channel,
    client,
    report,
  });
  const windowMs = options.changeWindowMs ?? defaultChangeWindowMs;
  const watches = new ResourceWatches({ resolve: createUriResolver(catalog), subscriptions, windowMs });
  scope.add(() => watches.close());
  const large = new LargeValues({ uriPrefix, ...options });
  scope.add(() => large.close());
  const resolve = (uri: string, caller: Caller): Readable | undefined =>
    large.resolve(uri, caller) ?? watches.resolve(uri);
  const items = createListedItems({ catalog, watches, windowMs });
  scope.add(() => items?.close());
  if (!pull) return { catalog, resolve, large, watches, items };
  const waits = new ChangeWaits({ watches, find: (uri, caller) => ifGranted(watches.resolve(uri), caller) });
  scope.add(() => waits.close());
  const readable = (uri: string, caller: Caller): Readable | undefined => ifGranted(resolve(uri, caller), caller);
  const pullTools = [createReadResourceTool(catalog, readable), createWaitForChangeTool(waits, catalog)];
  return { catalog: withTools(catalog, pullTools), resolve, large, watches, items };
}

function assemble(definition: AppDefinition, scope: Scope): Omit<AppRuntime, "close"> {
  const { surface, options } = definition;
  const report = reporterOf(definition);
  const link = openReach(definition, scope);
  link.check?.(surface);
  const onUnreachable = (cause: unknown): void =>
    void internalError(cause, `reaching surface "${surface.name}"`, report);
  const held = new HeldSurface({ link, surface, onUnreachable });
  scope.add(() => held.close());
  const { catalog, watches, items, ...offer } = createOffer(definition, held, scope);
  warn(catalog.warnings);
  const invoker = createInvoker({ report, onChange: () => watches.distrust() });
  scope.add(() => invoker.close());
  const resourcesFor = createResourcesFor({ watches, items });
  return {
    info: toInfo(definition),
    instructionsFor: () => options.instructions,
    handlers: createHandlers({
      ...offer,
      catalog,
      invoker,
      items,
      report,
      pageSize: options.pageSize ?? defaultPageSize,
    }),
    resources: resourcesFor(anonymous),
    resourcesFor,
    lacking(uri, caller) {
      const resolved = watches.resolve(uri);
      return resolved && authorise(caller, resolved)?.scopes;
    },
    scopes: catalog.scopes,
    isReady: (signal) => held.isReachable(signal),
    headerParams(name) {
      const tool = catalog.tool(name);
      return tool === undefined ? undefined : headerParamsOf(tool.input.json);
    },
    abortsOnDisconnect: (name) => catalog.tool(name)?.onDisconnect === "abort",
    refuse: () => undefined,
    changing: new Set<ListName>(items === undefined ? [] : ["resources"]),
    limits: defaultFrameLimits,
    logs: definition.tools.size + definition.prompts.size + definition.resources.size > 0,
    hotPath: options.hotPath ?? true,
    report,
  };
}

/**
 * Opens an app: its connection, its catalog, its handlers. All or nothing.
 *
 * @throws SurfaceError with a boot code.
 */
export function createRuntime(definition: AppDefinition): AppRuntime {
  const scope = new Scope(`the app over surface "${definition.surface.name}"`);
  try {
    return Object.freeze({ ...assemble(definition, scope), close: () => scope.close() });
  } catch (cause) {
    void scope.close();
    throw cause;
  }
}
