/** How a list has become another, whatever the order. */
export interface ListDiff<TItem> {
  readonly gone: readonly TItem[];
  readonly come: readonly TItem[];
}

/** How many items two lists begin with alike. */
function alike(before: readonly unknown[], after: readonly unknown[]): number {
  const most = Math.min(before.length, after.length);
  let index = 0;
  while (index < most && before[index] === after[index]) index += 1;
  return index;
}

/** How many items they end with alike, besides those that they begin with. */
function alikeBehind(before: readonly unknown[], after: readonly unknown[], start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before[before.length - 1 - count] === after[after.length - 1 - count]) count += 1;
  return count;
}

/** What of a list is not in another. */
function without<TItem>(list: readonly TItem[], other: readonly TItem[]): readonly TItem[] {
  if (other.length === 0 || list.length === 0) return list;
  const others = new Set(other);
  return list.filter((item) => !others.has(item));
}

/** What makes one list of items that are known by identity another. Costs little where they begin and end alike. */
export function diffLists<TItem>(before: readonly TItem[], after: readonly TItem[]): ListDiff<TItem> {
  const start = alike(before, after);
  const end = alikeBehind(before, after, start);
  const [was, is] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return { gone: without(was, is), come: without(is, was) };
}

/** More items than this are looked for in one pass. */
const few = 16;

function remove<TItem>(list: readonly TItem[], gone: readonly TItem[]): readonly TItem[] {
  if (gone.length > few) {
    const leaving = new Set(gone);
    return list.filter((item) => !leaving.has(item));
  }
  const left = list.slice();
  for (const item of gone) {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}

/** A list without what has gone, and behind that what has come; the same list where nothing has. */
export function patchList<TItem>(list: readonly TItem[], { gone, come }: ListDiff<TItem>): readonly TItem[] {
  if (gone.length === 0 && come.length === 0) return list;
  return Object.freeze((gone.length === 0 ? list : remove(list, gone)).concat(come));
}
