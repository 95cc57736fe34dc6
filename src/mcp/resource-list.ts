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

/** What {@link ResourceList} is made of. */
export interface ResourceListSetting {
  /** What of it is listed for those whom this list is for. */
  readonly catalog: Catalog;
  readonly items: ListedItems;
  readonly invoker: Invoker;
  readonly pageSize: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** How long the items are waited for, in milliseconds: a host shows nothing until it has the list. */
const itemsTimeoutMs = 2000;

/** How many lists of the same collections are kept for those who have seen a first page. */
const maxKept = 4;

/** Of how many choices of collections lists are kept: callers who were granted other scopes may see others. */
const maxChoices = 16;

interface Line {
  readonly uri: string;
  readonly text: string;
}

type Items = readonly (readonly ListedItem[])[];

/** The lists of the collections that some callers may know of. */
interface Choice {
  /** The newest last: whoever reads on gets the further pages of the list whose first page they saw. */
  readonly kept: PagedList[];
  newest: { readonly items: Items; readonly list: PagedList } | undefined;
}

function isSame(left: Items, right: Items): boolean {
  return left.every((items, index) => items === right[index]);
}

/**
 * The list of resources where it has items that come and go, for all callers who are shown the same. While these cannot be read
 * it has the others.
 */
export class ResourceList {
  readonly #setting: ResourceListSetting;
  readonly #fixed: readonly Line[];
  readonly #listed: ReadonlySet<ResourceEntry>;
  /** By the collections that they are of; those whose first page was seen least recently first. */
  readonly #choices = new Map<string, Choice>();

  constructor(setting: ResourceListSetting) {
    this.#setting = setting;
    this.#listed = new Set(setting.catalog.resources);
    this.#fixed = setting.catalog.resources.map((each) => ({ uri: each.uri, text: describeResource(each) }));
  }

  /** The page that a caller's params ask for: the first as of now, or one that follows. */
  async page(params: Readonly<Record<string, unknown>> | undefined, caller: Caller): Promise<RpcAnswer> {
    const may: MayList = (entry) => this.#listed.has(entry);
    if (params !== undefined && Object.hasOwn(params, "cursor")) return this.#further(params, may);
    const visible = await this.#setting.items.list((resolved) => this.#read(resolved, caller), may);
    return this.#toList(visible).page(params);
  }

  /** A cursor to what another may see is as unknown as any other. */
  #further(params: Readonly<Record<string, unknown>>, may: MayList): RpcAnswer {
    for (const list of this.#choices.get(this.#setting.items.visibleTo(may))?.kept ?? []) {
      const answer = list.page(params);
      if (answer.kind === "result") return answer;
    }
    return unknownCursor;
  }

  async #read(resolved: Resolved, caller: Caller): Promise<ResourceContent | undefined> {
    const { invoker, clock = systemClock } = this.#setting;
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
    const { pageSize } = this.#setting;
    return createPagedList({ key: "resources", items: lines.map(({ text }) => text), pageSize });
  }
}
