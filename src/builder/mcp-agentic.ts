import { agenticService, namesOf, type AgenticServices } from "../from/agentic/agentic-service.ts";
import type { AgenticOptions } from "../from/agentic/agentic-options.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/** How services are shown, and what the server says of itself. */
export interface McpAgenticOptions extends McpOptions, Omit<AgenticOptions, "onFault"> {}

function nameOf(services: AgenticServices): string {
  const names = namesOf(services);
  return names.length === 0 ? "agentic-service" : names.join("+");
}

/**
 * Makes an app of services and nothing else: actions are called as they are in their service, and states are at
 * `surface://<serviceName>/state/<key>`. What can be added to any app can be added to it, and goes before what services have.
 *
 * @param options - of both: how services are shown, and what the server says of itself, whose name is the service's by default.
 * @throws SurfaceError as `agenticService()` and `mcp()` do.
 * @example
 * ```ts
 * await mcpAgentic(game, { states: "resource", links: true }).serve();
 * ```
 */
export function mcpAgentic(services: AgenticServices, options: McpAgenticOptions = {}): MountedApp {
  const { states, links, listLinks, describe, describeState, ...rest } = options;
  const all = { states, links, listLinks, describe, describeState, onFault: rest.onFault };
  const said: AgenticOptions = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const source = agenticService(services, said);
  return appOfMount(nameOf(services), source, rest);
}
