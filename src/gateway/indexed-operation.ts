import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation-name.ts";
import type { IndexedDocument } from "./word-index.ts";

/** An operation with the text that searches need. */
export interface IndexedOperation {
  readonly entry: ToolEntry;
  readonly slot: number;
  readonly document: IndexedDocument;
  /** The name on the wire, in lower case as all names here. */
  readonly wireName: string;
  /** The wire name without the first segment of the id; left out where the id has only one. */
  readonly shortName?: string;
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
  const dot = id.indexOf(".");
  return {
    entry,
    slot,
    document: { slot, name: nameOf(id), namespace: namespaceOf(id), ...texts },
    wireName,
    // In a wire name, each character stands where it stands in the id.
    ...(dot === -1 ? {} : { shortName: wireName.slice(dot + 1) }),
    name: nameOf(id).toLowerCase(),
  };
}
