/** What is to become of a sorted list. */
export interface SortedPatch<TItem> {
  readonly gone: ReadonlySet<TItem>;
  readonly come: readonly TItem[];
}

/** A patch of more items than this costs less by one pass over the list. */
const few = 16;

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

/** Returns a copy of a list that is sorted by id, without the items that have gone and with those that have come. */
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
