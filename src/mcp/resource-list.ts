import type { Invoker } from "../call/create-invoker.ts";
import { CallContext } from "../call/call-context.ts";
import type { Catalog } from "../catalog/create-catalog.ts";
import type { ListedItem, ResourceContent } from "../catalog/entry.ts";
import type { ListedItems } from "../catalog/listed-items.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { describeItem, describeResource } from "./describe-entries.ts";
import { createPagedList, unknownCursor, type PagedList } from "./pages.ts";
import type { RpcAnswer } from "./protocol.ts";

/** What {@link ResourceList} is made of. */
export interface ResourceListSetting {
  readonly catalog: Catalog;
  readonly items: ListedItems;
  readonly invoker: Invoker;
  readonly pageSize: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** How long the items are waited for, in milliseconds: a host shows nothing until it has the list. */
const itemsTimeoutMs = 2000;

/** How many lists are kept for those who have seen a first page. */
const maxKept = 4;

interface Line {
  readonly uri: string;
  readonly text: string;
}

type Items = readonly (readonly ListedItem[])[];

function isSame(left: Items, right: Items): boolean {
  return left.every((items, index) => items === right[index]);
}

/** The list of resources where it has items that come and go. While these cannot be read it has the others. */
export class ResourceList {
  readonly #setting: ResourceListSetting;
  readonly #fixed: readonly Line[];
  /** The newest last: whoever reads on gets the further pages of the list whose first page they saw. */
  readonly #kept: PagedList[] = [];
  #newest: { readonly items: Items; readonly list: PagedList } | undefined;

  constructor(setting: ResourceListSetting) {
    this.#setting = setting;
    this.#fixed = setting.catalog.resources.map((each) => ({ uri: each.uri, text: describeResource(each) }));
  }

  /** The page that a request's params ask for: the first as of now, or one that follows. */
  async page(params: Readonly<Record<string, unknown>> | undefined): Promise<RpcAnswer> {
    if (params !== undefined && Object.hasOwn(params, "cursor")) return this.#further(params);
    const items = await this.#setting.items.list((resolved) => this.#read(resolved));
    return this.#toList(items).page(params);
  }

  #further(params: Readonly<Record<string, unknown>>): RpcAnswer {
    for (const list of this.#kept) {
      const answer = list.page(params);
      if (answer.kind === "result") return answer;
    }
    return unknownCursor;
  }

  async #read(resolved: Resolved): Promise<ResourceContent | undefined> {
    const { invoker, clock = systemClock } = this.#setting;
    const call = new CallContext();
    const stop = clock.after(itemsTimeoutMs, () => call.cancel());
    const outcome = await invoker.read(resolved, call);
    stop();
    return outcome.kind === "content" ? outcome.content : undefined;
  }

  #toList(items: Items): PagedList {
    if (this.#newest !== undefined && isSame(this.#newest.items, items)) return this.#newest.list;
    const list = this.#toPages(items);
    this.#newest = { items, list };
    this.#kept.push(list);
    if (this.#kept.length > maxKept) this.#kept.shift();
    return list;
  }

  #toPages(items: Items): PagedList {
    const lines = [...this.#fixed, ...items.flat().map((item) => ({ uri: item.uri, text: describeItem(item) }))];
    lines.sort((left, right) => (left.uri < right.uri ? -1 : 1));
    const { pageSize } = this.#setting;
    return createPagedList({ key: "resources", items: lines.map(({ text }) => text), pageSize });
  }
}
