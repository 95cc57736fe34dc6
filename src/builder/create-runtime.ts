import { assertViewName } from "../views/assert-view-name.ts";
import { authorise, type Lack } from "../call/authorise.ts";
import { createInvoker, type Invoker } from "../call/create-invoker.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import { SurfaceError } from "../errors.ts";
import { inProcess } from "../links/in-process.ts";
import { HeldSurface } from "../links/held-surface.ts";
import type { Link } from "../links/link.ts";
import { AskStates } from "../mcp/asking/ask-states.ts";
import { InputRequired } from "../mcp/asking/input-required.ts";
import type { Face } from "../mcp/faces.ts";
import { createHandlers } from "../mcp/handlers.ts";
import { headerParamsOf } from "../mcp/header-params.ts";
import type { Readable } from "../mcp/large-values.ts";
import { defaultFrameLimits } from "../mcp/limits.ts";
import { toCounts } from "../mcp/to-counts.ts";
import type { AppRuntime, AppScopes, ServerInfo } from "../mcp/servable-app.ts";
import { Scope } from "../spine/scope.ts";
import { createReporter, internalError } from "../surface/fault.ts";
import { keepLooks } from "../tags/looks.ts";
import type { AppDefinition } from "./app-definition.ts";
import { createOffer, type Offer } from "./create-offer.ts";
import { createResourcesFor } from "./create-resources-for.ts";
import { createWarner } from "./create-warner.ts";
import type { WholeParts } from "./create-whole.ts";

function openReach(definition: AppDefinition, scope: Scope): Link {
  const {
    reach,
    surface,
    options: { onFault, toRefusal },
  } = definition;
  if (reach === undefined) {
    throw new SurfaceError(
      "NOT_LINKED",
      `Serving surface "${surface.name}": it has no link; call bridge() or implement()`,
    );
  }
  if (reach.kind === "link") {
    const kept = reach.link.keep?.({ onFault, toRefusal });
    if (kept !== undefined) scope.add(() => kept.close());
    return kept ?? reach.link;
  }
  const live = reach.implement({ onFault, toRefusal });
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

/** Tells the author what works but may not be meant: at boot, and of other rules when they come. */
function warn({ scope }: WholeParts, { views, warnings, viewWarnings }: Offer): void {
  const tell = createWarner();
  tell([...warnings, ...viewWarnings()]);
  scope.add(views.subscribe(() => tell(viewWarnings())));
}

/** What an app is opened with. */
type Opened = Omit<AppRuntime, "close">;

function createOpenInvoker({ definition, report, scope }: WholeParts, { live, watches }: Offer): Invoker {
  const invoker = createInvoker({
    report,
    onChange: () => watches.distrust(),
    tree: definition.calls,
    find: (id) => live.current.toolOf(id) ?? live.current.tool(id),
    confirm: definition.confirm,
    rehearse: definition.options.asking?.rehearse,
    askTimeouts: definition.options.asking?.timeoutMs,
  });
  scope.add(() => invoker.close());
  return invoker;
}

function isHopeless(lack: Lack | undefined): boolean {
  return lack !== undefined && lack.scopes === undefined;
}

/** What is known of an app for each caller. */
function toLookups({ faces, uris, watches, items, views }: Offer): Lookups {
  const shownTo = (caller: Caller): Face | undefined => {
    const face = faces.of(caller);
    return "kind" in face ? undefined : face;
  };
  const toolFor = (name: string, caller: Caller): ToolEntry | undefined => shownTo(caller)?.catalog.tool(name);
  const resourcesFor = createResourcesFor({ watches, items, faces, uris });
  return {
    resources: resourcesFor(anonymous),
    resourcesFor,
    instructionsFor: (caller) => shownTo(caller)?.instructions,
    summaryFor: (caller) => toCounts(shownTo(caller)?.listedFor(caller)),
    lacking(uri, caller) {
      const resolved = uris.find(uri, caller);
      return resolved && authorise(caller, resolved)?.scopes;
    },
    refuse(caller) {
      const face = faces.of(caller);
      return "kind" in face ? face : undefined;
    },
    assertView: (name, doing) => assertViewName(views, name, doing),
    changing: items === undefined ? faces.changing : new Set([...faces.changing, "resources" as const]),
    headerParams(name, caller = anonymous) {
      const tool = toolFor(name, caller);
      // What no consent would help with is as little there for headers as it is for a call.
      if (tool === undefined || isHopeless(authorise(caller, tool))) return undefined;
      return headerParamsOf(tool.input.json);
    },
    abortsOnDisconnect: (name, caller = anonymous) => toolFor(name, caller)?.onDisconnect === "abort",
  };
}

type Lookups = Pick<
  Required<AppRuntime>,
  | "resources"
  | "resourcesFor"
  | "instructionsFor"
  | "summaryFor"
  | "lacking"
  | "assertView"
  | "refuse"
  | "changing"
  | "headerParams"
  | "abortsOnDisconnect"
>;

/** Whether there is code of the author's that can tell the client's log. */
function canLog({ tools, prompts, resources, mounts }: AppDefinition): boolean {
  return tools.size + prompts.size + resources.size + mounts.size > 0;
}

function assemble(definition: AppDefinition, scope: Scope): Opened {
  const { surface, options } = definition;
  const report = createReporter(options);
  const link = openReach(definition, scope);
  link.check?.(surface);
  const onUnreachable = (cause: unknown): void =>
    void internalError(cause, `reaching surface "${surface.name}"`, report);
  const held = new HeldSurface({ link, surface, onUnreachable });
  scope.add(() => held.close());
  const parts: WholeParts = { definition, held, report, scope };
  const offer = createOffer(parts);
  const { live, uris } = offer;
  warn(parts, offer);
  const invoker = createOpenInvoker(parts, offer);
  const info = toInfo(definition);
  const asking = new InputRequired(new AskStates({ ...options.asking, app: info.name }), report);
  const resolve = (uri: string, caller: Caller): Readable | undefined => uris.findReadable(uri, caller);
  return {
    info,
    ...toLookups(offer),
    handlers: createHandlers({ ...offer, catalog: live.current, invoker, report, resolve, asking }),
    // What is mounted may ask for others later.
    scopes: toLiveScopes(live),
    isReady: (signal) => held.isReachable(signal),
    limits: defaultFrameLimits,
    schemaBytes: live.schemas,
    countParts: (budget) => offer.large.countIn(budget),
    logs: canLog(definition),
    hotPath: options.hotPath ?? true,
    report,
  };
}

/** What callers can be granted now. */
function toLiveScopes(live: LiveCatalog): AppScopes {
  const { read, write } = live.current.scopes;
  return Object.freeze({
    read,
    write,
    get all() {
      return live.current.scopes.all;
    },
  });
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
