import { gatewayOrigin, gatewayToolNames } from "../catalog/gateway-tool-names.ts";
import { SurfaceError } from "../errors.ts";
import type { ViewPacket } from "./view-rules.ts";

/** A tool, as messages about collisions name it. */
export interface NamedTool {
  /** Its name on the wire. */
  readonly name: string;
  readonly origin: string;
}

/** The first rule of some packets that shows a gateway, in words. */
function findGateway(packets: readonly ViewPacket[]): string | undefined {
  for (const { id, rules } of packets) {
    const index = rules.findIndex(({ verdict }) => verdict.kind === "tool_surface" && verdict.face === "gateway");
    if (index !== -1) return `rule "${rules[index]?.id ?? index + 1}" of packet "${id}"`;
  }
  return undefined;
}

/**
 * Refuses rules that show a gateway over an app with a tool of its own that is called as one of the four.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both.
 */
export function assertNoGatewayCollision(packets: readonly ViewPacket[], tools: Iterable<NamedTool>): void {
  const gateway = findGateway(packets);
  if (gateway === undefined) return;
  for (const { name, origin } of tools) {
    const taken = gatewayToolNames.find((reserved) => reserved === name);
    if (taken === undefined) continue;
    throw new SurfaceError(
      "NAME_COLLISION",
      `Naming ${origin}: its name on the wire, "${name}", is taken by ${gatewayOrigin(taken)} that ${gateway} shows`,
    );
  }
}
