import type { ToolEntry } from "../catalog/entry.ts";
import { createCallTool } from "./call-tool.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { createListTool } from "./list-tool.ts";
import { createSchemaTool } from "./schema-tool.ts";
import { OperationIndex } from "./operation-index.ts";
import { createSearchTool } from "./search-tool.ts";

/**
 * Creates the four tools of a gateway over one view: `call`, `list`, `schema`, `search`. They share one index, which needs no disposal.
 * Their descriptions do not depend on the operations: `toReadingTools()` lists them to callers who can only read.
 */
export function createGatewayTools(parts: GatewayDeps): readonly ToolEntry[] {
  const indexed = { ...parts, index: new OperationIndex() };
  return Object.freeze([
    createCallTool(indexed),
    createListTool(indexed),
    createSchemaTool(indexed),
    createSearchTool(indexed),
  ]);
}
