import { mcpAgentic } from "surface-mcp/from/agentic";

import { createDungeon } from "./dungeon.ts";

/** A game as an MCP server: its actions are tools, its states resources, and so are those of the services it has links to. */
export function createGameApp() {
  return mcpAgentic(createDungeon(), { states: "resource", links: true });
}
