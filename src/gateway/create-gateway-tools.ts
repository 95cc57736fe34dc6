import type { ToolEntry } from "../catalog/entry.ts";
import { createCallTool } from "./call-tool.ts";
import type { GatewayParts } from "./gateway-parts.ts";
import { createListTool } from "./list-tool.ts";
import { createSchemaTool } from "./schema-tool.ts";
import { OperationIndex } from "./operation-index.ts";
import { createSearchTool } from "./search-tool.ts";

/**
 * Makes the four tools of a gateway over one view: `call`, `list`, `schema`, `search`. They own the index that is searched, which
 * needs no disposal. What they say of themselves is the same whatever is behind them: where all that a caller finds there only
 * reads, they are listed by `toReadingTools()`.
 */
export function createGatewayTools(parts: GatewayParts): readonly ToolEntry[] {
  const indexed = { ...parts, index: new OperationIndex() };
  return Object.freeze([
    createCallTool(indexed),
    createListTool(indexed),
    createSchemaTool(indexed),
    createSearchTool(indexed),
  ]);
}
