import type { EntryGuard } from "../catalog/entry.ts";

/** Written once an entry: catalogs share them. */
const written = new WeakMap<EntryGuard, string>();

function write(entry: EntryGuard): string {
  const known = written.get(entry) ?? JSON.stringify([entry.scopes, entry.requires]);
  written.set(entry, known);
  return known;
}

/** What entries ask for, each different thing once: there are few, however many entries there are. */
export function guardsOf(entries: readonly EntryGuard[]): readonly EntryGuard[] {
  return [...new Map(entries.map((entry) => [write(entry), entry])).values()];
}
