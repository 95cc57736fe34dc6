import type { Caller } from "../catalog/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { GatewayParts } from "./gateway-parts.ts";

/**
 * The operation that a caller names, by its id or by its name on the wire. What is hidden from them, what they were not granted
 * and what never was are one: `undefined`.
 */
export function findOperation(parts: GatewayParts, tool: string, caller: Caller): ToolEntry | undefined {
  const catalog = parts.catalog(caller);
  const entry = catalog.toolOf(tool) ?? catalog.tool(tool);
  return entry !== undefined && parts.isGranted(entry, caller) ? entry : undefined;
}
