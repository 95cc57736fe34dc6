import type { McpSession, Touchable } from "./mcp-session.ts";

/** What this agent must find on a server to do its work. */
const NEEDED_TOOLS = ["run", "settled", "node_rerun", "node_show", "fix"] as const;

/** Where things are, read from what the server lists. */
export interface Toolbox {
  readonly all: readonly Touchable[];
  /** URI of the resource that lists all nodes. */
  readonly nodesUri: string;
  /** URI of a node's log. */
  logUri(node: string): string;
}

/**
 * Lists what there is and finds what the agent needs in it.
 *
 * @throws Error naming what is missing.
 */
export async function openToolbox(session: McpSession): Promise<Toolbox> {
  const all = await session.list();
  const tools = all.filter(({ kind }) => kind === "tool").map(({ name }) => name);
  const missing: string[] = NEEDED_TOOLS.filter((name) => !tools.includes(name));
  const nodesUri = all.find(({ kind, name }) => kind === "resource" && name.endsWith("/nodes"))?.name;
  const logTemplate = all.find(({ kind, name }) => kind === "template" && name.endsWith("/log/{node}"))?.name;
  if (nodesUri === undefined) missing.push("a resource of all nodes");
  if (logTemplate === undefined) missing.push("a template of logs");
  if (nodesUri === undefined || logTemplate === undefined || missing.length > 0) {
    throw new Error(`the server does not list what this agent needs: ${missing.join(", ")}`);
  }
  return { all, nodesUri, logUri: (node) => logTemplate.replace("{node}", encodeURIComponent(node)) };
}
