import { Approvals } from "../call/approvals.ts";
import { CallTree, type Calls } from "../call/call-tree.ts";
import type { AnyBespokePrompt } from "../catalog/custom/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool } from "../catalog/custom/bespoke-tool.ts";
import type { ExposeValue } from "../catalog/expose.ts";
import type { MountSource } from "../catalog/mounts/mount.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import { readExposeMap, readTags } from "../catalog/read-exposures.ts";
import { SurfaceError } from "../errors.ts";
import type { Link } from "../links/link.ts";
import { InspectedApp, kInspected } from "../mcp/inspected-app.ts";
import type { AppRuntime, ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import { Observers, type ObserverOption } from "../observe/observers.ts";
import { createReporter } from "../surface/fault.ts";
import { stdio } from "../stdio/stdio.ts";
import { isSurface, type Surface } from "../surface/define-surface.ts";
import { implementSurface } from "../surface/implement-surface.ts";
import type { Implementation } from "../surface/implementation.ts";
import type { Spec } from "../surface/member.ts";
import type { ConfirmOptions } from "../tags/tool-options.ts";
import type { ViewReplay } from "../views/replay-view.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import { kDefinition, readMcpOptions, type AppDefinition, type McpOptions, type Backend } from "./app-definition.ts";
import { readExactNames, type ExactNames } from "./exact-names.ts";
import { assembleApp, replayApp, toInfo, type ReplayOptions } from "./assemble-app.ts";
import { addEntries, addMount, assertContext, claimNames, readConfirm, readViewsInput } from "./read-steps.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { TagCollision, TagNames, UnlinkedApp } from "./stages.ts";
import type { ViewsOptions } from "./view-names.ts";

/** The fields of a definition that an app does not create itself. */
type AppFields = Omit<AppDefinition, "calls" | "approvals" | "observers" | "inspected">;

/** The app at run time, in every stage. Its methods also refuse the calls that the interface of a stage does not allow. */
class App implements ServableApp {
  readonly [kDefinition]: AppDefinition;

  /** @throws SurfaceError `NAME_COLLISION`, `INVALID_NAME`. */
  constructor(parts: AppFields) {
    const { onFault, observe = [] } = parts.options;
    const observers = new Observers({ report: onFault });
    const calls = new CallTree({ report: onFault });
    const approvals = new Approvals({ report: onFault });
    const { surface, exposures, confirm, backend } = parts;
    const info = toInfo(parts);
    const report = createReporter({ onFault });
    const isLinked = backend?.kind === "link";
    const inspected = new InspectedApp({
      ...{ info, surface, exposures, confirm, observers, calls, approvals, report, isLinked },
    });
    const definition = { ...parts, calls, approvals, observers, inspected };
    for (const observer of [observe].flat()) observers.add(observer);
    claimNames(definition);
    this[kDefinition] = Object.freeze(definition);
    Object.freeze(this);
  }

  get [kInspected](): InspectedApp {
    return this[kDefinition].inspected;
  }

  get calls(): Calls {
    return this[kDefinition].calls;
  }

  observe(observer: ObserverOption): () => void {
    return this[kDefinition].observers.add(observer);
  }

  /** The same object: generic code gets a type with fewer checks. */
  get generic(): App {
    return this;
  }

  bridge(link: Link): App {
    if (typeof link?.connect !== "function") {
      throw new SurfaceError(
        "INVALID_OPTION",
        "Cannot call bridge(): its argument must be a link, for example inProcess(live)",
      );
    }
    return this.#setBackend({ kind: "link", link });
  }

  implement(handlers: Implementation<Spec>): App {
    const { surface } = this[kDefinition];
    return this.#setBackend({
      kind: "implement",
      implement: (options) => implementSurface(surface, handlers, options),
    });
  }

  expose(map: Readonly<Record<string, ExposeValue | undefined>>): App {
    const { surface, exposures } = this[kDefinition];
    const more = readExposeMap(surface, map);
    const known = new Set(exposures.map(({ key }) => key));
    for (const { key } of more) {
      if (!known.has(key)) continue;
      throw new SurfaceError(
        "ALREADY_EXPOSED",
        `Cannot expose "${key}": it is exposed already; expose it in one place`,
      );
    }
    return this.#with({ exposures: [...exposures, ...more] });
  }

  tools(more: Readonly<Record<string, AnyBespokeTool | undefined>>): App {
    this.#assertLinked("tools()");
    return this.#with({ tools: addEntries("tool", this[kDefinition].tools, more) });
  }

  prompts(more: Readonly<Record<string, AnyBespokePrompt | undefined>>): App {
    this.#assertLinked("prompts()");
    return this.#with({ prompts: addEntries("prompt", this[kDefinition].prompts, more) });
  }

  resources(more: Readonly<Record<string, AnyBespokeResource | undefined>>): App {
    this.#assertLinked("resources()");
    return this.#with({ resources: addEntries("resource", this[kDefinition].resources, more) });
  }

  mount(prefix: string, source: MountSource): App {
    this.#assertLinked("mount()");
    return this.#with({ mounts: addMount(this[kDefinition].mounts, prefix, source) });
  }

  views(input: ViewsInput, options?: ViewsOptions): App {
    this.#assertLinked("views()");
    if (this[kDefinition].views !== undefined) {
      throw new SurfaceError("INVALID_OPTION", "Cannot call views(): it was called already; call it once");
    }
    return this.#with(readViewsInput(input, options));
  }

  pull(): App {
    if (this[kDefinition].pull) {
      throw new SurfaceError("NAME_COLLISION", "Cannot call pull(): it was called already; call it once");
    }
    return this.#with({ pull: true });
  }

  context(factory: ContextFactory): App {
    assertContext(this[kDefinition], factory);
    return this.#with({ context: factory });
  }

  confirm(which: "mutating", options?: ConfirmOptions): App {
    return this.#with({ confirm: readConfirm(this[kDefinition].confirm, { which, options }) });
  }

  exactly(names: ExactNames): App {
    this.#assertLinked("exactly()");
    return this.#with({ exact: readExactNames(this[kDefinition].exact, names) });
  }

  replay(options?: ReplayOptions): ViewReplay {
    this.#assertLinked("replay()");
    return replayApp(this[kDefinition], options);
  }

  open(): AppRuntime {
    return assembleApp(this[kDefinition]);
  }

  async serve(target: ServeTarget = stdio()): Promise<Serving> {
    this.#assertLinked("serve()");
    if (typeof target?.serve !== "function") {
      const example = "write serve(http({ port: 3000 })), with http of surface-mcp/http, or serve() for stdio";
      throw new SurfaceError("INVALID_OPTION", `Cannot call serve(): its argument is not a target; ${example}`);
    }
    return target.serve(this);
  }

  #assertLinked(method: string): void {
    if (this[kDefinition].backend !== undefined) return;
    throw new SurfaceError(
      "NOT_LINKED",
      `Cannot call ${method}: the app has no link; call bridge() or implement() first`,
    );
  }

  #setBackend(backend: Backend): App {
    if (this[kDefinition].backend !== undefined) {
      throw new SurfaceError(
        "ALREADY_LINKED",
        "Cannot link the app: it is linked already; call bridge() or implement() once",
      );
    }
    return this.#with({ backend });
  }

  #with(change: Partial<AppDefinition>): App {
    return new App({ ...this[kDefinition], ...change });
  }
}

// The first signature of mcp() applies only if names provably collide: otherwise it takes more arguments than any call has, and the
// compiler leaves it out of its messages. A check on the parameters of the second signature would refuse generic functions, whose
// spec is unknown.
/** The further arguments of mcp() for a surface with two tagged members of one wire name. */
type CollidingOptions<TSpec> = [TagCollision<TSpec>] extends [never]
  ? readonly [never, never, never]
  : readonly [options?: McpOptions];

// After an error in its arguments a call gets the result of the first signature.
/** A sentence in the place of an app. */
type CollidingApp<TSpec> = [TagCollision<TSpec>] extends [never]
  ? UnlinkedApp<TagNames<TSpec>, TSpec>
  : TypeProblem<TagCollision<TSpec>>;

/** Creates an app of validated parts. @throws SurfaceError `NAME_COLLISION`, `INVALID_NAME`. */
export function toApp(parts: AppFields): ServableApp {
  return new App(parts);
}

/** Refuses a surface with two tagged members of one wire name: the result is a sentence instead of an app. */
export function mcp<TSpec extends Spec>(
  surface: Surface<TSpec>,
  ...options: CollidingOptions<TSpec>
): CollidingApp<TSpec>;
/**
 * Creates an app of a surface, which exposes only tagged members. Chain `expose`, `bridge` or `implement`, `context`, `tools`,
 * `prompts`, `resources`, `confirm` and `serve`. Every step returns a new app and leaves the one before unchanged.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for a surface that `defineSurface()` did not create; `NAME_COLLISION` if two tagged
 * members have one wire name; `INVALID_NAME` for a wire name that hosts reject.
 * @example
 * ```ts
 * const app = mcp(counter).implement({ value: count, bump: () => 1, reset: () => count.set(0) });
 * await app.serve();
 * ```
 */
export function mcp<TSpec extends Spec>(
  surface: Surface<TSpec>,
  options?: McpOptions,
): UnlinkedApp<TagNames<TSpec>, TSpec>;
export function mcp(surface: Surface<Spec>, options: McpOptions = {}): unknown {
  if (!isSurface(surface)) {
    throw new SurfaceError("INVALID_OPTION", "Cannot create an app: its surface must be the result of defineSurface()");
  }
  return new App({
    surface,
    options: readMcpOptions(options, surface.name),
    exposures: readTags(surface),
    tools: new Map(),
    prompts: new Map(),
    resources: new Map(),
    mounts: new Map(),
    views: undefined,
    replay: false,
    backend: undefined,
    context: undefined,
    confirm: undefined,
    pull: false,
    exact: undefined,
    lock: undefined,
  });
}
