/** The entry `surface-mcp/from/invoker`: tool registries, such as those of agent frameworks, as mount sources. */
export { mcpInvoker } from "../../builder/mcp-invoker.ts";
export { invoker, invokers, type InvokersOptions, type InvokerSource } from "./invoker.ts";
export type { ToolAnnotations, ToolInvoker, ToolSpec } from "./tool-invoker.ts";
