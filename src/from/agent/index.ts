/** The entry `surface-mcp/from/agent`: agents as tools, with their steps as progress notifications. */
export { agent, agents, type AgentAnswer, type AgentDefinition } from "./agent.ts";
export type { AgentCall, AgentContext } from "./agent-run.ts";
export type { AgentStep } from "./run-steps.ts";
export { mcpAgent } from "../../builder/mcp-agent.ts";
