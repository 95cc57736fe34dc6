import type { ToolEntry } from "../catalog/entry.ts";
import { createCallTool } from "./call-tool.ts";
import type { GatewayDeps } from "./gateway-entry.ts";
import { createListTool } from "./list-tool.ts";
import { createSchemaTool } from "./schema-tool.ts";
import { createSearchTool } from "./search-tool.ts";

/**
 * Creates the four tools of a gateway over one view: `call`, `list`, `schema`, `search`. Their descriptions do not depend on the
 * operations: `toReadingTools()` lists them to callers who can only read.
 */
export function createGatewayTools(deps: GatewayDeps): readonly ToolEntry[] {
  return Object.freeze([createCallTool(deps), createListTool(deps), createSchemaTool(deps), createSearchTool(deps)]);
}
