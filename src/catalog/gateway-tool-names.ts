/** The names of the tools of a gateway: all that is listed of one, whatever is behind it. */
export const gatewayToolNames = ["call", "list", "schema", "search"] as const;

/** The name of a tool of a gateway. */
export type GatewayToolName = (typeof gatewayToolNames)[number];

/** How messages name such a tool. */
export function gatewayOrigin(name: GatewayToolName): string {
  return `tool "${name}" of the gateway`;
}
