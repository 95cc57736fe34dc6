/** A line for the host's log; the agent was told what it may know. */
export function reportFault({ where, cause }: { readonly where: string; readonly cause: unknown }): void {
  console.error(`[ci] ${where}: ${cause instanceof Error ? cause.message : String(cause)}`);
}
