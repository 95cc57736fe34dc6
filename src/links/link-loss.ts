import { SurfaceError } from "../errors.ts";
import { isRelayed } from "../surface/relayed.ts";

/**
 * Whether a use has failed because its connection has, and not because the far side said no: `"sent"` where it may have
 * been acted upon, `"unsent"` where nothing was written. What a far side throws has these codes only where it tells
 * them of somebody further up: others are masked where they were thrown.
 */
export function toLinkLoss(cause: unknown): "sent" | "unsent" | undefined {
  if (isRelayed(cause) || !(cause instanceof SurfaceError)) return undefined;
  if (cause.code === "DISCONNECTED") return "sent";
  return cause.code === "UNAVAILABLE" ? "unsent" : undefined;
}
