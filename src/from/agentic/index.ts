/** The entry `surface-mcp/from/agentic`: services whose states and actions change at runtime. */
export { mcpAgentic, type McpAgenticOptions } from "../../builder/mcp-agentic.ts";
export { agenticService, type AgenticServices } from "./agentic-service.ts";
export type { ActionMetadata, AgenticOptions, StateMetadata } from "./agentic-options.ts";
export type { AgenticAction, AgenticService, AgenticState, Observe } from "./service-shape.ts";
export { toJSONSchema } from "./to-json-schema.ts";
