/** The names of the tools that `pull()` adds. */
export const pullToolNames = ["read_resource", "wait_for_change"] as const;

/** The name of a tool that `pull()` adds. */
export type PullToolName = (typeof pullToolNames)[number];

/** How messages name such a tool. */
export function pullOrigin(name: PullToolName): string {
  return `tool "${name}" of pull()`;
}
