/** The entry `surface-mcp/from/invoker`: whatever lists tools and runs them by name, as it is. */
export { mcpInvoker } from "../../builder/mcp-invoker.ts";
export { invoker, invokers, type InvokersOptions, type InvokerSource } from "./invoker.ts";
export type { ToolAnnotations, ToolInvoker, ToolSpec } from "./tool-invoker.ts";
