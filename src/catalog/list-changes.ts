/** The difference between two lists, whatever their order. */
export interface ListDiff<TItem> {
  readonly gone: readonly TItem[];
  readonly come: readonly TItem[];
}

/** For more items than this, one pass over the list is cheaper than a search for each. */
const few = 16;

/** Returns the length of the common start. */
function alike(before: readonly unknown[], after: readonly unknown[]): number {
  const most = Math.min(before.length, after.length);
  let index = 0;
  while (index < most && before[index] === after[index]) index += 1;
  return index;
}

/** Returns the length of the common end behind the common start. */
function alikeBehind(before: readonly unknown[], after: readonly unknown[], start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before[before.length - 1 - count] === after[after.length - 1 - count]) count += 1;
  return count;
}

function without<TItem>(list: readonly TItem[], other: readonly TItem[]): readonly TItem[] {
  if (other.length === 0 || list.length === 0) return list;
  const others = new Set(other);
  return list.filter((item) => !others.has(item));
}

/** Compares two lists of items by identity. Cheap if they start and end alike. */
export function diffLists<TItem>(before: readonly TItem[], after: readonly TItem[]): ListDiff<TItem> {
  const start = alike(before, after);
  const end = alikeBehind(before, after, start);
  const [was, is] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return { gone: without(was, is), come: without(is, was) };
}

/** Returns a list without the items that have gone, and with the new ones at its end; the same list if nothing differs. */
export function patchList<TItem>(list: readonly TItem[], { gone, come }: ListDiff<TItem>): readonly TItem[] {
  if (gone.length === 0 && come.length === 0) return list;
  if (gone.length > few) return Object.freeze(without(list, gone).concat(come));
  const left = list.slice();
  for (const item of gone) {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
  }
  return Object.freeze(left.concat(come));
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

/** The difference between two sorted lists. */
export interface SortedPatch<TItem> {
  readonly gone: ReadonlySet<TItem>;
  readonly come: readonly TItem[];
}

function patchFew<TItem>(
  list: readonly TItem[],
  { gone, come }: SortedPatch<TItem>,
  toId: (item: TItem) => string,
): readonly TItem[] {
  const patched = list.slice();
  for (const item of gone) {
    const at = patched.indexOf(item, placeOf(patched, toId(item), toId));
    if (at >= 0) patched.splice(at, 1);
  }
  for (const item of come) patched.splice(placeOf(patched, toId(item), toId), 0, item);
  return patched;
}

/** Returns a copy of a list that is sorted by id, without the items that have gone and with the new ones. */
export function patchSorted<TItem>(
  list: readonly TItem[],
  { gone, come }: SortedPatch<TItem>,
  toId: (item: TItem) => string,
): readonly TItem[] {
  if (gone.size + come.length <= few) return patchFew(list, { gone, come }, toId);
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

function isSorted<TItem>(items: readonly TItem[], toId: (item: TItem) => string): boolean {
  return items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || toId(before) < toId(item);
  });
}

/** Sorts items by id, and freezes them and the list; returns the same list if that was done before. No two items share an id. */
export function sortFrozen<TItem extends object>(
  items: readonly TItem[],
  toId: (item: TItem) => string,
): readonly TItem[] {
  if (Object.isFrozen(items) && isSorted(items, toId)) return items;
  const sorted = items.toSorted((left, right) => (toId(left) < toId(right) ? -1 : 1));
  for (const item of sorted) Object.freeze(item);
  return Object.freeze(sorted);
}
