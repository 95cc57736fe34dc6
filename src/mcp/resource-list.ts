import type { Invoker } from "../call/create-invoker.ts";
import { CallContext } from "../call/call-context.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ListedItem, ResourceContent, ResourceEntry } from "../catalog/entry.ts";
import type { ListedItems, MayList, VisibleItems } from "../catalog/resources/listed-items.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { createPagedList, describeItem, describeResource, unknownCursor, type PagedList } from "./lists.ts";
import type { RpcAnswer } from "./protocol.ts";
import { setNewest } from "../spine/collections.ts";

/** Dependencies of a {@link ResourceList}. */
export interface ResourceListDeps {
  /** The entries that the callers of this list are shown. */
  readonly catalog: Catalog;
  readonly items: ListedItems;
  readonly invoker: Invoker;
  readonly pageSize: number;
  /** @default the clock of this machine */
  readonly clock?: Clock;
}

/** Milliseconds that a list waits for its items: a host shows nothing until it has the list. */
const itemsTimeoutMs = 2000;

/** The number of lists of the same collections that are kept for callers who have read a first page. */
const maxKept = 4;

/** The number of sets of collections whose lists are kept: callers with other scopes may see other collections. */
const maxChoices = 16;

interface Line {
  readonly uri: string;
  readonly text: string;
}

type Items = readonly (readonly ListedItem[])[];

/** The lists of the collections that some callers are shown. */
interface Choice {
  /** The newest last: a caller gets the further pages of the list whose first page it has read. */
  readonly kept: PagedList[];
  newest: { readonly items: Items; readonly list: PagedList } | undefined;
}

function isSame(left: Items, right: Items): boolean {
  return left.every((items, index) => items === right[index]);
}

/**
 * The list of resources of an app that lists the items of collections, for all callers who are shown the same. It leaves out the items
 * of a collection that cannot be read now.
 */
export class ResourceList {
  readonly #deps: ResourceListDeps;
  readonly #fixed: readonly Line[];
  readonly #listed: ReadonlySet<ResourceEntry>;
  /** The key is the set of collections; the set whose first page was read the longest ago comes first. */
  readonly #choices = new Map<string, Choice>();

  constructor(deps: ResourceListDeps) {
    this.#deps = deps;
    this.#listed = new Set(deps.catalog.resources);
    this.#fixed = deps.catalog.resources.map((each) => ({ uri: each.uri, text: describeResource(each) }));
  }

  /** Returns the page that a caller's params ask for: the first of the items as they are now, or one that follows. */
  async page(params: Readonly<Record<string, unknown>> | undefined, caller: Caller): Promise<RpcAnswer> {
    const may: MayList = (entry) => this.#listed.has(entry);
    if (params !== undefined && Object.hasOwn(params, "cursor")) return this.#further(params, may);
    const visible = await this.#deps.items.list((resolved) => this.#read(resolved, caller), may);
    return this.#toList(visible).page(params);
  }

  /** A cursor to what another may see is as unknown as any other. */
  #further(params: Readonly<Record<string, unknown>>, may: MayList): RpcAnswer {
    for (const list of this.#choices.get(this.#deps.items.visibleTo(may))?.kept ?? []) {
      const answer = list.page(params);
      if (answer.kind === "result") return answer;
    }
    return unknownCursor;
  }

  async #read(resolved: Resolved, caller: Caller): Promise<ResourceContent | undefined> {
    const { invoker, clock = systemClock } = this.#deps;
    const call = new CallContext({ caller });
    const stop = clock.after(itemsTimeoutMs, () => call.cancel());
    const outcome = await invoker.read(resolved, call);
    stop();
    return outcome.kind === "content" ? outcome.content : undefined;
  }

  #toList({ of, items }: VisibleItems): PagedList {
    const choice = this.#choose(of);
    if (choice.newest !== undefined && isSame(choice.newest.items, items)) return choice.newest.list;
    const list = this.#toPages(items);
    choice.newest = { items, list };
    choice.kept.push(list);
    if (choice.kept.length > maxKept) choice.kept.shift();
    return list;
  }

  #choose(of: string): Choice {
    const choice: Choice = this.#choices.get(of) ?? { kept: [], newest: undefined };
    setNewest(this.#choices, [of, choice], maxChoices);
    return choice;
  }

  #toPages(items: Items): PagedList {
    const lines = [...this.#fixed, ...items.flat().map((item) => ({ uri: item.uri, text: describeItem(item) }))];
    lines.sort((left, right) => (left.uri < right.uri ? -1 : 1));
    const { pageSize } = this.#deps;
    return createPagedList({ key: "resources", items: lines.map(({ text }) => text), pageSize });
  }
}
