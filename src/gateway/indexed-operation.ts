import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation-name.ts";
import type { IndexedDocument } from "./word-index.ts";

/** An operation with the text that searches need. */
export interface IndexedOperation {
  readonly entry: ToolEntry;
  readonly slot: number;
  readonly document: IndexedDocument;
  /** The id and the wire name in lower case, then both without their first segment, which may be the prefix of a mount. */
  readonly names: readonly string[];
  /** The last segment of the id, in lower case. */
  readonly name: string;
  /** All names, each behind a line break. */
  readonly lines: string;
}

/** The ranks of an operation that a query names, the best first. Operations found by words come after these. */
export const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

function toNames(id: string, wireName: string): readonly string[] {
  const dot = id.indexOf(".") + 1;
  // In a wire name, each character stands where it stands in the id.
  return dot === 0 ? [id, wireName] : [id, wireName, id.slice(dot), wireName.slice(dot)];
}

/** Prepares an operation for searches, under a slot of the index. */
export function toIndexedOperation(entry: ToolEntry, slot: number): IndexedOperation {
  const { id, title = "", description = "", tags = [] } = entry;
  const texts = { tags: tags.join(" "), description: `${title} ${description}` };
  const names = toNames(id.toLowerCase(), entry.name.toLowerCase());
  const name = nameOf(id).toLowerCase();
  return {
    entry,
    slot,
    document: { slot, name: nameOf(id), namespace: namespaceOf(id), ...texts },
    names,
    name,
    lines: `\n${[...names, name].join("\n")}`,
  };
}

/** Returns the rank of an operation by its names; `named.words` when `text` is not, and does not begin, one that counts. */
export function rankOfName({ names, name }: IndexedOperation, text: string): number {
  const place = names.indexOf(text);
  if (place === 0 || place === 1) return named.id;
  if (place !== -1 || name === text) return named.name;
  return names.some((one) => one.startsWith(text)) ? named.prefix : named.words;
}
