/** The entry `surface-mcp/from/agent`: agents whose steps their callers are told of, as they are. */
export { agent, type AgentAnswer, type AgentDefinition } from "./agent.ts";
export type { AgentCall, AgentContext } from "./agent-context.ts";
export type { AgentStep } from "./agent-context.ts";
export { agents } from "./agent.ts";
export { mcpAgent } from "../../builder/mcp-agent.ts";
