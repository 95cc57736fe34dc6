import type { MountSource } from "../catalog/mounts/mount.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/**
 * Makes an app of an agent, or of several that `agents()` has put together, and nothing else: each is a tool of its own name.
 *
 * @param options - as of `mcp()`; the server's `name` is by default that of the first agent.
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * await mcpAgent(writer).serve();
 * ```
 */
export function mcpAgent(source: MountSource, options: McpOptions = {}): MountedApp {
  const [first] = source.list();
  return appOfMount(options.name ?? first?.name ?? "agents", source, options);
}
