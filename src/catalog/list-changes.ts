/** The difference between two lists, regardless of their order. */
export interface ListDiff<TItem> {
  readonly gone: readonly TItem[];
  readonly come: readonly TItem[];
}

/** Accumulates a difference until it is taken. */
export class PendingDiff<TItem> {
  readonly #gone = new Set<TItem>();
  readonly #come = new Set<TItem>();

  add(item: TItem): void {
    if (!this.#gone.delete(item)) this.#come.add(item);
  }

  remove(item: TItem): void {
    if (!this.#come.delete(item)) this.#gone.add(item);
  }

  /** Returns the difference since the last call; `undefined` if nothing has changed. */
  take(): ListDiff<TItem> | undefined {
    if (this.#gone.size + this.#come.size === 0) return undefined;
    const diff = { gone: [...this.#gone], come: [...this.#come] };
    this.#gone.clear();
    this.#come.clear();
    return diff;
  }
}

/** For more items than this, one pass over the list is cheaper than a search for each. */
const few = 16;

/** Returns the length of the common start. */
function commonStart(before: readonly unknown[], after: readonly unknown[]): number {
  const most = Math.min(before.length, after.length);
  let length = 0;
  while (length < most && before[length] === after[length]) length += 1;
  return length;
}

/** Returns the length of the common end, behind the common start. */
function commonEnd(before: readonly unknown[], after: readonly unknown[], start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let length = 0;
  while (length < most && before[before.length - 1 - length] === after[after.length - 1 - length]) length += 1;
  return length;
}

function without<TItem>(list: readonly TItem[], other: readonly TItem[]): readonly TItem[] {
  if (other.length === 0 || list.length === 0) return list;
  const others = new Set(other);
  return list.filter((item) => !others.has(item));
}

/** The list from which {@link patchSorted} made another, and the difference. The list is held weakly, or every version would stay. */
interface Origin {
  readonly list: WeakRef<readonly unknown[]>;
  readonly diff: ListDiff<unknown>;
}

const origins = new WeakMap<readonly unknown[], Origin>();

/**
 * Compares two lists of items by identity. Costs nothing if {@link patchSorted} made one of the other, and little if they start and end
 * alike.
 */
export function diffLists<TItem>(before: readonly TItem[], after: readonly TItem[]): ListDiff<TItem> {
  const origin = origins.get(after);
  // The difference of two lists of the same items.
  if (origin?.list.deref() === before) return origin.diff as ListDiff<TItem>;
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const [was, is] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return { gone: without(was, is), come: without(is, was) };
}

/** Returns the index of the first item of a sorted list whose id is not less than `id`. */
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

/** Returns a copy of a list, sorted by id. No two items share an id. */
export function sortById<TItem>(items: readonly TItem[], toId: (item: TItem) => string): TItem[] {
  return items.toSorted((left, right) => (toId(left) < toId(right) ? -1 : 1));
}

function patch<TItem>(
  list: readonly TItem[],
  { gone, come }: ListDiff<TItem>,
  toId: (item: TItem) => string,
): readonly TItem[] {
  // The sort merges two sorted runs in one pass.
  if (gone.length + come.length > few) return sortById([...without(list, gone), ...sortById(come, toId)], toId);
  // V8 copies a frozen array 20 times as fast by a spread as by slice().
  const patched = [...list];
  for (const item of gone) {
    const at = patched.indexOf(item, placeOf(patched, toId(item), toId));
    if (at >= 0) patched.splice(at, 1);
  }
  for (const item of come) patched.splice(placeOf(patched, toId(item), toId), 0, item);
  return patched;
}

/** Returns a frozen list, sorted by id as the one given, without the items that have gone and with the new ones. */
export function patchSorted<TItem>(
  list: readonly TItem[],
  diff: ListDiff<TItem>,
  toId: (item: TItem) => string,
): readonly TItem[] {
  const patched = Object.freeze(patch(list, diff, toId));
  origins.set(patched, { list: new WeakRef(list), diff });
  return patched;
}
