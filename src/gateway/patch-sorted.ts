import type { Catalog } from "../catalog/catalog.ts";
import { diffLists } from "../catalog/diff-lists.ts";
import type { ToolEntry } from "../catalog/entry.ts";

/** What is to become of a sorted list. */
export interface SortedPatch<TItem> {
  readonly gone: ReadonlySet<TItem>;
  readonly come: readonly TItem[];
}

/** Returns the index of the first item of a sorted list that does not come before `id`. */
export function placeOf<TItem>(list: readonly TItem[], id: string, toId: (item: TItem) => string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = list[middle];
    if (item !== undefined && toId(item) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A list that is sorted by id, without what has gone and with what has come: one copy, and a search for each that has come. */
export function patchSorted<TItem>(
  list: readonly TItem[],
  { gone, come }: SortedPatch<TItem>,
  toId: (item: TItem) => string,
): readonly TItem[] {
  const left = gone.size === 0 ? list : list.filter((item) => !gone.has(item));
  const patched: TItem[] = [];
  let from = 0;
  for (const item of come.toSorted((one, other) => (toId(one) < toId(other) ? -1 : 1))) {
    const at = placeOf(left, toId(item), toId);
    for (const before of left.slice(from, at)) patched.push(before);
    patched.push(item);
    from = at;
  }
  for (const after of left.slice(from)) patched.push(after);
  return patched;
}

const toId = ({ id }: ToolEntry): string => id;

/** The tools of a catalog, sorted by id. For the next catalog the list is patched. */
export class SortedOperations {
  #tools: Catalog["tools"] = [];
  #sorted: readonly ToolEntry[] = [];

  of({ tools }: Catalog): readonly ToolEntry[] {
    if (tools === this.#tools) return this.#sorted;
    const { gone, come } = diffLists(this.#tools, tools);
    this.#sorted = patchSorted(this.#sorted, { gone: new Set(gone), come }, toId);
    this.#tools = tools;
    return this.#sorted;
  }
}
