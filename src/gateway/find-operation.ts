import { operationNotFound, type Refused } from "../catalog/outcome.ts";
import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { toScope, type GatewayDeps } from "./gateway-entry.ts";
import { toNameQuery } from "./search-query.ts";

/** The highest number of near operations in a refusal. */
const maxNear = 3;

/** An operation as a caller names it: by its id or its wire name. */
export interface NamedOperation {
  readonly tool: string;
  readonly caller: Caller;
}

/** Returns the operation of an id or wire name; `undefined` if it is hidden, not granted to the caller, or does not exist. */
export function findOperation(parts: GatewayDeps, { tool, caller }: NamedOperation): ToolEntry | undefined {
  const catalog = parts.catalog(caller);
  const entry = catalog.toolOf(tool) ?? catalog.tool(tool);
  return entry !== undefined && parts.isGranted(entry, caller) ? entry : undefined;
}

/**
 * Returns the refusal for a name that {@link findOperation} finds nothing by, with the ids that hold all its words. It depends only on
 * operations that the caller may see, so hidden and missing operations answer alike.
 */
export async function toNotFound(parts: GatewayDeps, { tool, caller }: NamedOperation): Promise<Refused> {
  const query = toNameQuery(tool);
  if (query === undefined) return operationNotFound;
  // A text may be the id of one operation and the name of another: neither was returned, so neither is near.
  const bounds = { ...toScope(parts, caller), most: maxNear + 2 };
  const { whole } = await parts.index.search(parts.catalog(caller), query, bounds);
  const others = whole.filter((entry) => entry.id !== tool && entry.name !== tool).slice(0, maxNear);
  if (others.length === 0) return operationNotFound;
  const near = others.map(({ id }) => `"${id}"`);
  return { ...operationNotFound, message: `${operationNotFound.message}; near it: ${near.join(", ")}` };
}
