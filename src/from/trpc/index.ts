/** The entry `surface-mcp/from/trpc`: the procedures of a tRPC router, as far as a map names them. */
export { mcpTrpc, type McpTrpcOptions } from "../../builder/mcp-trpc.ts";
export { fromTrpc, loadTrpc, type TrpcCall, type TrpcOptions, type TrpcSource } from "./trpc.ts";
export type { TrpcRouter } from "./trpc-types.ts";
export type { RpcExposure, RpcReadOptions, RpcResourceOptions, RpcToolOptions } from "../rpc/expose.ts";
