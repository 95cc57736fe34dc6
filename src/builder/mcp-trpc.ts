import type { RpcExposeHints } from "../from/rpc/expose.ts";
import type { TrpcPathsOf, TrpcRecordOf, TrpcRouter } from "../from/trpc/trpc-types.ts";
import { fromTrpc, type TrpcExpose, type TrpcNames, type TrpcOptions } from "../from/trpc/trpc.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/** Options of `fromTrpc()` and `mcp()`. */
export interface McpTrpcOptions<TRouter extends TrpcRouter> extends McpOptions, TrpcOptions<TRouter> {}

/**
 * Creates an app of the procedures of a tRPC router that the map names. Tools have the names of their procedures, with `_` for each dot.
 *
 * @param options - those of `fromTrpc()` and `mcp()`; `name` defaults to `"trpc"`.
 * @throws SurfaceError as `fromTrpc()` and `mcp()` do.
 * @example
 * ```ts
 * await mcpTrpc(router, { "order.show": "tool" }, { context: (caller) => ({ user: caller.id }) }).serve();
 * ```
 */
export function mcpTrpc<$Router extends TrpcRouter, const $Expose>(
  router: $Router,
  expose: $Expose & NoInfer<TrpcExpose<$Router, $Expose>> & RpcExposeHints<TrpcPathsOf<TrpcRecordOf<$Router>>>,
  options: McpTrpcOptions<$Router>,
): MountedApp<TrpcNames<$Router, $Expose>> {
  const { context, ...rest } = options;
  return appOfMount(rest.name ?? "trpc", fromTrpc<$Router, $Expose>(router, expose, { context }), rest);
}
