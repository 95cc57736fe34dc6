import { operationNotFound } from "../catalog/cannot-nest.ts";
import type { Caller } from "../catalog/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { Refused } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import type { IndexedParts } from "./gateway-parts.ts";
import { fitsTerm } from "./word-costs.ts";
import { toIndexWords } from "./to-words.ts";
import { toSearchQuery, type SearchQuery } from "./search-query.ts";

/** How many near operations are named. */
const maxNear = 3;

/** An operation as a caller names it: by its id or its wire name. */
export interface NamedOperation {
  readonly tool: string;
  readonly caller: Caller;
}

/**
 * The operation of this id or wire name. What is hidden from the caller, what they were not granted and what does not exist are
 * one: `undefined`.
 */
export function findOperation(parts: IndexedParts, { tool, caller }: NamedOperation): ToolEntry | undefined {
  const catalog = parts.catalog(caller);
  const entry = catalog.toolOf(tool) ?? catalog.tool(tool);
  return entry !== undefined && parts.isGranted(entry, caller) ? entry : undefined;
}

/** A name as a query; `undefined` where it is too long for one. */
function toQuery(tool: string): SearchQuery | undefined {
  try {
    return toSearchQuery(tool);
  } catch (cause) {
    if (cause instanceof SurfaceError) return undefined;
    throw cause;
  }
}

/** Whether all words are in an id itself, and not only in what is said of it. */
function isNear(id: string, words: readonly string[]): boolean {
  const terms = toIndexWords(id);
  return words.every((word) => terms.some((term) => fitsTerm(term, word)));
}

/**
 * The refusal for a name that {@link findOperation} finds nothing by, with the ids that hold all its words. It is made of what the caller
 * may see alone, so that it is the same for what is hidden from them and what does not exist.
 */
export async function toNotFound(parts: IndexedParts, { tool, caller }: NamedOperation): Promise<Refused> {
  const query = toQuery(tool);
  if (query === undefined || query.words.length === 0) return operationNotFound;
  const { whole } = await parts.index.search(
    parts.catalog(caller),
    query,
    (entry) => entry.id !== tool && entry.name !== tool && parts.isGranted(entry, caller),
  );
  const near = whole
    .filter(({ id }) => isNear(id, query.words))
    .slice(0, maxNear)
    .map(({ id }) => `"${id}"`);
  if (near.length === 0) return operationNotFound;
  return { ...operationNotFound, message: `${operationNotFound.message}; near it: ${near.join(", ")}` };
}
