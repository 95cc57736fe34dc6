import type { ToolEntry } from "../catalog/entry.ts";
import type { IndexedDocument } from "./word-index.ts";

/** An operation with the text that searches need. */
export interface IndexedOperation {
  readonly entry: ToolEntry;
  readonly slot: number;
  readonly document: IndexedDocument;
  /** In lower case, as the names below. */
  readonly id: string;
  /** The name on the wire. */
  readonly wireName: string;
  /** The name on the wire without the first segment, which may be the prefix of a mount. The whole name where there is only one. */
  readonly shortName: string;
  /** The last segment of the id. */
  readonly name: string;
}

/** The ranks of an operation that a query names, the best first. Operations found by words come after these. */
export const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

/** Prepares an operation for searches, under a slot of the index. */
export function toIndexedOperation(entry: ToolEntry, slot: number): IndexedOperation {
  const { id, title = "", description = "", tags = [] } = entry;
  const texts = { tags: tags.join(" "), description: `${title} ${description}` };
  const wireName = entry.name.toLowerCase();
  return {
    entry,
    slot,
    document: { slot, name: nameOf(id), namespace: namespaceOf(id), ...texts },
    id: id.toLowerCase(),
    wireName,
    // In a name on the wire, each character stands where it stands in the id.
    shortName: wireName.slice(id.indexOf(".") + 1),
    name: nameOf(id).toLowerCase(),
  };
}

/** The namespace of an operation: its id up to the last dot; empty where it has none. */
export function namespaceOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

/** The name of an operation within its namespace: the last segment of its id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** Whether an operation is in a namespace or in one below it. Everything is in the empty one. */
export function isWithin(id: string, namespace: string): boolean {
  if (namespace === "") return true;
  const own = namespaceOf(id);
  return own === namespace || own.startsWith(`${namespace}.`);
}
