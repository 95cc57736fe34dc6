import type { Catalog } from "../catalog/catalog.ts";
import { setNewest } from "../spine/collections.ts";
import { Throttle } from "../spine/throttle.ts";
import type { Clock } from "../spine/clock.ts";
import type { Caller } from "../surface/caller.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import { systemClock } from "../surface/system-clock.ts";
import { type Decision, toEntity } from "../views/compile-rules.ts";
import type { Views } from "../views/views.ts";
import type { CatalogLists, ListName } from "./lists.ts";
import { rpcCodes, toRpcError, type RpcError } from "./protocol.ts";
import { createScopeReporter } from "./report-scopes.ts";
import { ResolvedView, type ResolvedViewDeps, type ShowingDecision } from "./resolved-view.ts";

/** The number of views that are always kept, and of entries up to which more are kept. */
const minViews = 64;
const maxEntries = 200_000;

/** Dependencies of {@link ViewResolver}. */
export interface ViewResolverDeps extends Omit<ResolvedViewDeps, "callableBy" | "onNoneGranted"> {
  readonly views: Views;
  readonly lists: CatalogLists;
  /** The shortest time between two notifications of a changed list, in milliseconds. */
  readonly windowMs: number;
  readonly report: FaultReporter;
  /** @default the clock of this machine */
  readonly clock?: Clock;
}

/** The reason for a changed view: other rules, or other resources. */
export type ShownChange = "rules" | "resources";

/** A caller who is notified of changes of one list. */
interface ListWatch {
  readonly list: ListName;
  readonly caller: Caller;
  readonly changed: () => void;
  /** The digest of the list that the caller knows; `undefined` if the view was denied. */
  seen: string | undefined;
}

/** The view that was resolved last. */
interface LastResolved {
  readonly caller: Caller;
  readonly view: ResolvedView | RpcError;
}

function isShowing(decision: Decision): decision is ShowingDecision {
  return decision.verdict.kind === "tool_surface";
}

function toDenial({ verdict }: Decision): RpcError {
  const reason = verdict.kind === "deny" ? verdict.reason : "";
  return { ...toRpcError(rpcCodes.internal, `tool surface denied: ${reason}`), stage: "view" };
}

/** Returns the lists that can change. Prompts only change with the rules. */
function changingLists({ live, views }: ViewResolverDeps): ReadonlySet<ListName> {
  const { prompts, resources, templates } = live.current;
  const changing = new Set<ListName>();
  if (views.canChange || live.canChange) changing.add("tools");
  if (views.canChange && prompts.length > 0) changing.add("prompts");
  const hasResources = resources.length + templates.length > 0;
  if (live.canReadOthers || (views.canChange && hasResources)) changing.add("resources");
  return changing;
}

/** Tells whether an object's fields, and with them the view that it stands for, stay the same. */
function isFixed(caller: Caller): boolean {
  const { view } = caller;
  return Object.isFrozen(caller) && Object.isFrozen(view) && Object.isFrozen(view?.client);
}

/** Decides what each caller is shown, by the rules and entries as they are now. Call `close()` when done. */
export class ViewResolver {
  /** The lists that can change. */
  readonly changing: ReadonlySet<ListName>;
  readonly #deps: ViewResolverDeps;
  readonly #viewDeps: ResolvedViewDeps;
  /** Views by the decision that they show, the least recently used first. */
  #views = new Map<Decision, ResolvedView>();
  /** Views of the rules before, by verdict: one rule with the same verdict takes each. A view that comes back later is a new one. */
  #viewsBefore = new Map<string, ResolvedView>();
  #last: LastResolved | undefined;
  readonly #listWatches = new Set<ListWatch>();
  readonly #listeners = new Listeners<ShownChange>();
  readonly #listThrottle: Throttle;
  readonly #resourceThrottle: Throttle;
  #areListsTouched = false;
  /** The resources as of the last notification. */
  #resources: Catalog["resources"] | undefined;
  readonly #stops: readonly (() => void)[];

  constructor(deps: ViewResolverDeps) {
    const { live, views, windowMs, clock = systemClock } = deps;
    this.#deps = deps;
    this.#viewDeps = {
      ...deps,
      callableBy: (caller) => this.shownTo(caller)?.callable,
      onNoneGranted: createScopeReporter(deps.report),
    };
    this.changing = changingLists(deps);
    this.#listThrottle = new Throttle({ clock, windowMs, fire: () => this.#compareLists() });
    this.#resourceThrottle = new Throttle({ clock, windowMs, fire: () => this.#compareResources() });
    this.#stops = [live.subscribe(() => this.#onEntries()), views.subscribe(() => this.#onRules())];
  }

  /** Returns the view that a caller is shown now, or the error for every request of a caller whose view is denied. */
  readonly resolve = (caller: Caller): ResolvedView | RpcError => {
    // The stages of one request ask with one caller, and so do the requests of one connection.
    if (this.#last?.caller === caller) return this.#last.view;
    const decision = this.#deps.views.decide(toEntity(caller));
    const view = isShowing(decision) ? this.#viewOf(decision) : toDenial(decision);
    this.#last = isFixed(caller) ? { caller, view } : undefined;
    return view;
  };

  /** Returns the view that a caller is shown now; `undefined` if it is denied. */
  shownTo(caller: Caller): ResolvedView | undefined {
    const view = this.resolve(caller);
    return view.kind === "view" ? view : undefined;
  }

  /**
   * Notifies a caller of changes of a list: at most once in `windowMs`, and only if the list differs from the one that the caller
   * knows. Returns a function that stops it.
   */
  watchList(list: ListName, caller: Caller, changed: () => void): () => void {
    if (!this.changing.has(list)) return () => {};
    const watch: ListWatch = { list, caller, changed, seen: this.#digestFor(list, caller) };
    this.#listWatches.add(watch);
    return () => void this.#listWatches.delete(watch);
  }

  /** True if callers may be shown other prompts or resources later. */
  get canChange(): boolean {
    const { views, live } = this.#deps;
    return views.canChange || live.canReadOthers;
  }

  /**
   * Calls `changed` when callers may be shown other prompts or resources: at once after a change of the rules, and at most once in
   * `windowMs` after a change of mounted resources. Mounted operations are only tools, and may change by the thousand, so they do
   * not count. Returns a function that stops it.
   */
  subscribe(changed: (what: ShownChange) => void): () => void {
    if (!this.canChange) return () => {};
    // The first subscriber knows the resources as they are now.
    if (this.#listeners.size === 0) this.#resources = this.#deps.live.current.resources;
    return this.#listeners.add(changed);
  }

  /** Stops all notifications and drops all views. Callable twice. */
  close(): void {
    for (const stop of this.#stops) stop();
    this.#listWatches.clear();
    this.#listeners.clear();
    this.#listThrottle.dispose();
    this.#resourceThrottle.dispose();
    this.#views.clear();
    this.#viewsBefore.clear();
    this.#last = undefined;
  }

  #viewOf(decision: ShowingDecision): ResolvedView {
    const known = this.#views.get(decision);
    const max = this.#maxViews();
    if (known !== undefined && this.#views.size < max) return known;
    const view = known ?? this.#takeBefore(decision) ?? new ResolvedView(decision, this.#viewDeps);
    setNewest(this.#views, [decision, view], max);
    return view;
  }

  #takeBefore({ verdict }: ShowingDecision): ResolvedView | undefined {
    if (this.#viewsBefore.size === 0) return undefined;
    const key = JSON.stringify(verdict);
    const view = this.#viewsBefore.get(key);
    this.#viewsBefore.delete(key);
    return view;
  }

  #maxViews(): number {
    const { tools, resources, templates, prompts } = this.#deps.live.current;
    const entries = tools.length + resources.length + templates.length + prompts.length;
    return Math.max(minViews, maxEntries / entries);
  }

  #digestFor(list: ListName, caller: Caller): string | undefined {
    const listed = this.shownTo(caller)?.listedFor(caller);
    return listed && this.#deps.lists.digestOf(list, listed);
  }

  #onRules(): void {
    this.#viewsBefore = new Map(Array.from(this.#views, ([{ verdict }, view]) => [JSON.stringify(verdict), view]));
    this.#views = new Map();
    this.#last = undefined;
    this.#tell("rules");
    this.#touchLists();
  }

  #onEntries(): void {
    this.#touchLists();
    if (this.#deps.live.canReadOthers && this.#listeners.size > 0) this.#resourceThrottle.touch();
  }

  /** Compares lists after the running code has ended, so that a change that is undone there counts for nothing. */
  #touchLists(): void {
    if (this.#areListsTouched || this.#listWatches.size === 0) return;
    this.#areListsTouched = true;
    queueMicrotask(() => {
      this.#areListsTouched = false;
      if (this.#listWatches.size > 0) this.#listThrottle.touch();
    });
  }

  #compareLists(): void {
    for (const watch of [...this.#listWatches]) {
      if (!this.#listWatches.has(watch)) continue;
      const now = this.#digestFor(watch.list, watch.caller);
      // A caller whose view is denied is notified once it is shown again, if the list differs then.
      if (now === undefined || now === watch.seen) continue;
      watch.seen = now;
      watch.changed();
    }
  }

  #compareResources(): void {
    const { resources } = this.#deps.live.current;
    if (resources === this.#resources) return;
    this.#resources = resources;
    this.#tell("resources");
  }

  #tell(what: ShownChange): void {
    this.#listeners.tell(what, (cause) => void internalError(cause, "a change of views", this.#deps.report));
  }
}
