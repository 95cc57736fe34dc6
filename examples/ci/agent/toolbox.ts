import type { McpSession, Touchable } from "./mcp-session.ts";

/** What this agent must find on a server to do its work. */
const NEEDED_TOOLS = ["run", "settled", "wait_for_change", "node_rerun", "node_show", "fix"] as const;

/** Where things are, read from what the server lists. */
export interface Toolbox {
  readonly all: readonly Touchable[];
  /** URI of the resource that lists all nodes. */
  readonly nodesUri: string;
  /** URI of a node's log. */
  readonly logUri: (node: string) => string;
}

/**
 * Lists what there is and finds what the agent needs in it.
 *
 * @throws Error naming what is missing.
 */
export async function openToolbox(session: McpSession): Promise<Toolbox> {
  const all = await session.list();
  const nameOf = (kind: Touchable["kind"], end: string): string | undefined =>
    all.find((one) => one.kind === kind && one.name.endsWith(end))?.name;
  const tools = all.filter(({ kind }) => kind === "tool").map(({ name }) => name);
  const found = {
    nodes: nameOf("resource", "/nodes"),
    log: nameOf("template", "/log/{node}"),
  };
  const missing = [
    ...NEEDED_TOOLS.filter((name) => !tools.includes(name)),
    ...Object.entries(found).flatMap(([name, uri]) => (uri === undefined ? [`a resource "${name}"`] : [])),
  ];
  if (missing.length > 0) throw new Error(`the server does not list what this agent needs: ${missing.join(", ")}`);
  const { nodes: nodesUri = "", log = "" } = found;
  return { all, nodesUri, logUri: (node) => log.replace("{node}", encodeURIComponent(node)) };
}
