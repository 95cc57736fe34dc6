import { authorise } from "../call/authorise.ts";
import {
  type Catalog,
  type EntryFilter,
  followTools,
  narrowCatalog,
  replaceTools,
  toToolChange,
} from "../catalog/catalog.ts";
import type { LiveCatalog } from "../catalog/mounts/live-catalog.ts";
import type { EntryGuard, ShownResources, ToolEntry } from "../catalog/entry.ts";
import { createUriResolver, type Resolved, type UriResolver } from "../catalog/resolve-uri.ts";
import type { ResourceWatches } from "../catalog/resources/resource-watches.ts";
import { toReadingTools } from "../gateway/call-tool.ts";
import { createGatewayTools } from "../gateway/gateway-tools.ts";
import { OperationIndex } from "../gateway/operation-index.ts";
import type { Caller } from "../surface/caller.ts";
import type { Decision } from "../views/compile-rules.ts";
import { toKeep } from "../views/show.ts";
import type { SurfaceVerdict } from "../views/view-rules.ts";
import { setNewest } from "../spine/collections.ts";

/** The maximum number of lists kept for callers with different grants, in one version of a view. */
const maxListed = 64;

/** A decision that does not deny. */
export interface ShowingDecision extends Decision {
  readonly verdict: SurfaceVerdict;
}

/** Dependencies of {@link ResolvedView}. */
export interface ResolvedViewDeps {
  readonly live: LiveCatalog;
  /** The app's own instructions for the model. */
  readonly instructions: string | undefined;
  /** Wraps resources whose newest value a watch knows. */
  readonly watches: Pick<ResourceWatches, "resolve">;
  /** Returns what a caller can call by their view now; `undefined` if the view is denied. */
  readonly callableBy: (caller: Caller) => Catalog | undefined;
  /** Receives a caller who was granted none of the entries, and the requirements of these. */
  readonly onNoneGranted: (caller: Caller, guards: readonly EntryGuard[]) => void;
}

/** A list for callers who pass the same guards, made of a catalog. */
interface Listed {
  readonly of: Catalog;
  readonly list: Catalog;
}

/** The results that depend on the version of the catalog. */
interface Shown {
  readonly whole: Catalog;
  readonly callable: Catalog;
  readonly catalog: Catalog;
  /** The list for callers who can call only tools that read. */
  readonly reading: Catalog | undefined;
  /** Lists by the guards that a caller passes, the oldest first. They depend on the order of `guards`. */
  readonly listed: Map<string, Listed>;
  /** The different guards of `catalog`, and perhaps of tools that have gone. */
  guards?: readonly EntryGuard[] | undefined;
  find?: UriResolver;
  /** Guards of the callable tools that only read, and of the others. */
  effects?: Readonly<Record<"reads" | "changes", readonly EntryGuard[]>> | undefined;
}

const written = new WeakMap<EntryGuard, string>();

function writeGuard(entry: EntryGuard): string {
  const text = written.get(entry) ?? JSON.stringify([entry.scopes, entry.requires]);
  written.set(entry, text);
  return text;
}

/** Returns the different guards of entries: there are few, however many entries there are. */
function guardsOf(entries: readonly EntryGuard[]): readonly EntryGuard[] {
  return [...new Map(entries.map((entry) => [writeGuard(entry), entry])).values()];
}

function isGranted(entry: EntryGuard, caller: Caller): boolean {
  return authorise(caller, entry) === undefined;
}

/** Tells which guards of the catalog a caller passes, as a text of "1" and "0". */
function grantsOf(shown: Shown, caller: Caller): string {
  const { tools, resources, templates, prompts } = shown.catalog;
  shown.guards ??= guardsOf([...tools, ...resources, ...templates, ...prompts]);
  return shown.guards.map((guard) => (isGranted(guard, caller) ? "1" : "0")).join("");
}

function effectOf({ hints }: ToolEntry): "reads" | "changes" {
  return hints.readOnlyHint ? "reads" : "changes";
}

function hasGuard(guards: readonly EntryGuard[] | undefined, entry: EntryGuard): boolean {
  return guards?.some((guard) => writeGuard(guard) === writeGuard(entry)) ?? false;
}

/** Tells whether a caller can call tools, all of which only read. Tools that were not granted count for nothing, so that they stay hidden. */
function onlyReads(shown: Shown, caller: Caller): boolean {
  const { tools } = shown.callable;
  shown.effects ??= {
    reads: guardsOf(tools.filter((tool) => effectOf(tool) === "reads")),
    changes: guardsOf(tools.filter((tool) => effectOf(tool) === "changes")),
  };
  const { reads, changes } = shown.effects;
  return !changes.some((guard) => isGranted(guard, caller)) && reads.some((guard) => isGranted(guard, caller));
}

function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left === right || (left.length === right.length && left.every((entry, index) => entry === right[index]));
}

/** Tells whether two catalogs have the same entries, tools aside. */
function isSameBesidesTools(left: Catalog, right: Catalog): boolean {
  return (["resources", "templates", "prompts"] as const).every((key) => isSameList(left[key], right[key]));
}

/** Replaces tools whose description names resources by those that name only the resources in `shown`. */
function describeTools(catalog: Catalog, shown: ShownResources): Catalog {
  const tools = catalog.tools.map((tool) => tool.describedFor?.(shown) ?? tool);
  return isSameList(tools, catalog.tools) ? catalog : replaceTools(catalog, tools);
}

/** Returns what of a catalog is listed to a caller, if there is one by its change since the list `known` was made. */
function listFor(caller: Caller, catalog: Catalog, known: Listed | undefined): Catalog {
  const keeps = (entry: EntryGuard): boolean => isGranted(entry, caller);
  if (known !== undefined) {
    const change = toToolChange(known.of, catalog);
    if (change !== undefined) return followTools(known.list, change, change.come.filter(keeps));
  }
  const list = narrowCatalog(catalog, { tool: keeps, prompt: keeps, resource: keeps });
  return describeTools(list, list);
}

/** Returns the resources that every caller may read: the description of a tool behind a gateway is the same for all callers. */
function openResources({ resources, templates }: Catalog): ShownResources {
  const isOpen = ({ requires }: EntryGuard): boolean => requires === undefined;
  return { resources: resources.filter(isOpen), templates: templates.filter(isOpen) };
}

function join(instructions: string | undefined, more: string | undefined): string | undefined {
  return instructions === undefined || more === undefined ? (instructions ?? more) : `${instructions}\n\n${more}`;
}

/** A view as it is shown now. Its catalogs stay the same objects until they have other entries. */
export class ResolvedView {
  /** Tells a view from the error of a caller whose view is denied. */
  readonly kind = "view";
  /** Instructions for the model: the app's own, then the view's. */
  readonly instructions: string | undefined;
  readonly #verdict: SurfaceVerdict;
  /** Written on first use: there may be thousands of views, and calls need no text. */
  #rules: string | undefined;
  readonly #keep: EntryFilter;
  readonly #deps: ResolvedViewDeps;
  readonly #gateway: readonly ToolEntry[] | undefined;
  readonly #index = new OperationIndex();
  #shown: Shown;

  constructor(decision: ShowingDecision, deps: ResolvedViewDeps) {
    const { face, instructions, readOnly } = decision.verdict;
    const whole = deps.live.current;
    this.#verdict = decision.verdict;
    this.#keep = toKeep(decision);
    this.#deps = deps;
    this.instructions = join(deps.instructions, instructions);
    // A call outlives the rules by which it began: its operations are looked up by the rules of their own time.
    const catalog = (caller: Caller): Catalog => deps.callableBy(caller) ?? replaceTools(this.callable, []);
    if (face === "gateway") {
      const isReadOnly = readOnly === true;
      this.#gateway = createGatewayTools({
        index: this.#index,
        catalog,
        isGranted,
        isReadOnly,
        readScope: whole.scopes.read,
      });
    }
    this.#shown = this.#show(whole);
  }

  /** Identifies the rules by what they decide: the same text in every replica. */
  get rules(): string {
    this.#rules ??= JSON.stringify(this.#verdict);
    return this.#rules;
  }

  /** The entries found by name and URI. A gateway's tools replace the tools behind them. */
  get catalog(): Catalog {
    return this.#current().catalog;
  }

  /** The entries that can be called: those behind a gateway, or else those of `catalog`. */
  get callable(): Catalog {
    return this.#current().callable;
  }

  /** Returns the entries listed for a caller, by their grants. Callers with the same grants get the same object. */
  listedFor(caller: Caller): Catalog {
    const shown = this.#current();
    const granted = grantsOf(shown, caller);
    const { catalog, reading, listed } = shown;
    const whole = reading !== undefined && onlyReads(shown, caller) ? reading : catalog;
    if (!granted.includes("0")) return whole;
    if (!granted.includes("1")) this.#deps.onNoneGranted(caller, shown.guards ?? []);
    const key = whole === catalog ? granted : `${granted} reads`;
    const known = listed.get(key);
    if (known?.of === whole) return known.list;
    const list = listFor(caller, whole, known);
    setNewest(listed, [key, { of: whole, list }], maxListed);
    return list;
  }

  /** Returns whether the rules show an entry that is in no catalog, whether or not a caller was granted it. */
  shows(entry: EntryGuard & { readonly id: string }): boolean {
    return this.#keep.resource(entry);
  }

  /** Returns the resource of a URI, whether or not a caller was granted it. */
  resource(uri: string): Resolved | undefined {
    const shown = this.#current();
    shown.find ??= createUriResolver(shown.catalog);
    return this.#deps.watches.resolve(uri, shown.find);
  }

  #current(): Shown {
    const whole = this.#deps.live.current;
    if (whole !== this.#shown.whole) this.#shown = this.#show(whole, this.#shown);
    return this.#shown;
  }

  #show(whole: Catalog, before?: Shown): Shown {
    const followed = before && this.#follow(whole, before);
    if (followed !== undefined) return followed;
    const shown = narrowCatalog(whole, this.#keep);
    const gateway = this.#gateway;
    const callable = describeTools(shown, gateway === undefined ? shown : openResources(shown));
    if (gateway !== undefined) this.#index.prepare(callable);
    if (before !== undefined && isSameBesidesTools(callable, before.callable)) {
      if (isSameList(callable.tools, before.callable.tools)) return { ...before, whole };
      // The list of a gateway does not depend on the tools behind it.
      const { effects: _before, ...kept } = before;
      if (gateway !== undefined) return { ...kept, whole, callable };
    }
    const made = { whole, callable, listed: new Map<string, Listed>() };
    if (gateway === undefined) return { ...made, catalog: callable, reading: undefined };
    const reading = replaceTools(callable, toReadingTools(gateway));
    return { ...made, catalog: replaceTools(callable, gateway), reading };
  }

  /** Returns what is shown after a change of tools alone. Decides about new tools only. */
  #follow(whole: Catalog, before: Shown): Shown | undefined {
    const change = toToolChange(before.whole, whole);
    if (change === undefined) return undefined;
    const come = change.come.filter((tool) => this.#keep.tool(tool));
    const callable = followTools(before.callable, change, come);
    if (callable === before.callable) return { ...before, whole };
    const { effects, guards, ...kept } = before;
    if (this.#gateway !== undefined) {
      this.#index.prepare(callable);
      const areKnown = change.gone.length === 0 && come.every((tool) => hasGuard(effects?.[effectOf(tool)], tool));
      return { ...before, whole, callable, ...(areKnown ? {} : { effects: undefined }) };
    }
    const listed = come.every((tool) => hasGuard(guards, tool))
      ? { guards, listed: kept.listed }
      : { listed: new Map<string, Listed>() };
    return { ...kept, ...listed, whole, callable, catalog: callable };
  }
}
