import { invokers } from "../from/invoker/invoker.ts";
import type { ToolInvoker } from "../from/invoker/tool-invoker.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/**
 * Creates an app of the tools of one invoker or several. Tools keep their names. An entry that you add to the app replaces a tool
 * with the same name.
 *
 * @param options - those of `mcp()`; `name` defaults to `"tools"`.
 * @throws SurfaceError `INVALID_OPTION`, `NAME_COLLISION`.
 * @example
 * ```ts
 * await mcpInvoker(tools, { name: "workshop" }).serve();
 * ```
 */
export function mcpInvoker(chain: ToolInvoker | readonly ToolInvoker[], options: McpOptions = {}): MountedApp {
  const source = invokers([chain].flat(), { onFault: options.onFault });
  return appOfMount(options.name ?? "tools", source, options);
}
