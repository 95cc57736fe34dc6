import { invokers } from "../from/invoker/invoker.ts";
import type { ToolInvoker } from "../from/invoker/tool-invoker.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/**
 * Makes an app of the tools of an invoker, or of several, and nothing else: each is called as it is there. What can be added to any
 * app can be added to it, and goes before their tools.
 *
 * @param options - as of `mcp()`; the server's `name` is `"tools"` by default.
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
