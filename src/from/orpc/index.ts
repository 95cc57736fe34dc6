/** The entry `surface-mcp/from/orpc`: the procedures of an oRPC router or contract, as far as a map names them. */
export { mcpOrpc, type McpOrpcOptions } from "../../builder/mcp-orpc.ts";
export { fromOrpc, type OrpcCall, type OrpcOptions, type OrpcSource } from "./orpc.ts";
export type { OrpcClient, OrpcExposure, OrpcKind } from "./orpc-types.ts";
export type { RpcExposure, RpcResourceOptions, RpcToolOptions } from "../rpc/expose.ts";
