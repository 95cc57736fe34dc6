/** Whether a list is as {@link sortFrozen} would make it: it made that one. */
function isSorted<TEntry>(entries: readonly TEntry[], text: (entry: TEntry) => string): boolean {
  if (!Object.isFrozen(entries)) return false;
  return entries.every((entry, index) => {
    const before = entries[index - 1];
    return before === undefined || text(before) < text(entry);
  });
}

/** Entries by a text that no two of them share, frozen: the same list where it is that already. */
export function sortFrozen<TEntry extends object>(
  entries: readonly TEntry[],
  text: (entry: TEntry) => string,
): readonly TEntry[] {
  if (isSorted(entries, text)) return entries;
  const sorted = entries.toSorted((left, right) => (text(left) < text(right) ? -1 : 1));
  for (const entry of sorted) Object.freeze(entry);
  return Object.freeze(sorted);
}
