import { mcpAgent } from "surface-mcp/from/agent";

import { createReleaseNotes } from "./release-notes.ts";

/** An agent as an MCP server, with one tool. */
export function createAgentApp(directory: string) {
  return mcpAgent(createReleaseNotes(directory), { title: "Release notes" });
}
