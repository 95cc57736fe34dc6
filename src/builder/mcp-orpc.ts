import type { OrpcExpose, OrpcHints, OrpcNames } from "../from/orpc/orpc-types.ts";
import { fromOrpc, type OrpcOptions } from "../from/orpc/orpc.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/** Options of `fromOrpc()` and `mcp()`. */
export interface McpOrpcOptions<TRouter extends object> extends McpOptions, OrpcOptions<TRouter> {}

/**
 * Creates an app of the procedures of an oRPC router that the map names. Tools have the names of their procedures, with `_` for each dot.
 *
 * @param options - those of `fromOrpc()` and `mcp()`; `name` defaults to `"orpc"`.
 * @throws SurfaceError as `fromOrpc()` and `mcp()` do.
 * @example
 * ```ts
 * const client = () => createRouterClient(orpcRouter, { context: { user: "a" } });
 * await mcpOrpc(orpcRouter, { "order.show": "read" }, { client }).serve();
 * ```
 */
export function mcpOrpc<$Router extends object, const $Expose>(
  router: $Router,
  expose: $Expose & NoInfer<OrpcExpose<$Router, $Expose>> & OrpcHints<$Router>,
  options: McpOrpcOptions<$Router>,
): MountedApp<OrpcNames<$Expose>> {
  const { client, ...rest } = options;
  return appOfMount(rest.name ?? "orpc", fromOrpc<$Router, $Expose>(router, expose, { client }), rest);
}
