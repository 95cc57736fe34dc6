import { agenticService, namesOf, type AgenticServices } from "../from/agentic/agentic-service.ts";
import type { AgenticOptions } from "../from/agentic/agentic-options.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/** Options of `agenticService()` and `mcp()`. */
export interface McpAgenticOptions extends McpOptions, Omit<AgenticOptions, "onFault"> {}

function nameOf(services: AgenticServices): string {
  const names = namesOf(services);
  return names.length === 0 ? "agentic-service" : names.join("+");
}

/**
 * Creates an app of services. Actions keep their names, and states are at `surface://<serviceName>/state/<key>`. An entry that you add
 * to the app replaces an entry of the services with the same name.
 *
 * @param options - `name` defaults to the names of the services.
 * @throws SurfaceError as `agenticService()` and `mcp()` do.
 * @example
 * ```ts
 * await mcpAgentic(game, { states: "resource", links: true }).serve();
 * ```
 */
export function mcpAgentic(services: AgenticServices, options: McpAgenticOptions = {}): MountedApp {
  const { states, links, listLinks, describe, describeState, ...rest } = options;
  const all = { states, links, listLinks, describe, describeState, onFault: rest.onFault };
  const given: AgenticOptions = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return appOfMount(nameOf(services), agenticService(services, given), rest);
}
