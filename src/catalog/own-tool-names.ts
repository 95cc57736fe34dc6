/** The names of the tools of a gateway. */
export const gatewayToolNames = ["call", "list", "schema", "search"] as const;

/** The name of a tool of a gateway. */
export type GatewayToolName = (typeof gatewayToolNames)[number];

/** Returns the name of such a tool in messages. */
export function gatewayOrigin(name: GatewayToolName): string {
  return `tool "${name}" of the gateway`;
}

/** The name of the tool that `.views(…, { replay: true })` adds. */
export const replayToolName = "replay";

/** The type of {@link replayToolName}. */
export type ReplayToolName = typeof replayToolName;

/** The name of that tool in messages. */
export const replayOrigin: string = `tool "${replayToolName}" of views()`;
