import type { MountSource } from "../catalog/mounts/mount.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/**
 * Creates an app of one agent, or of the agents of `agents()`. Each agent is a tool with the agent's name.
 *
 * @param options - those of `mcp()`; `name` defaults to the name of the first agent.
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
