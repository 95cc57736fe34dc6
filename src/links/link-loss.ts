import { SurfaceError } from "../errors.ts";

/**
 * Whether a use has failed because its connection has, and not because the far side said no: `"sent"` where it may have
 * been acted upon, `"unsent"` where nothing was written. What a far side throws never has these codes: they are masked
 * where it was thrown.
 */
export function toLinkLoss(cause: unknown): "sent" | "unsent" | undefined {
  if (!(cause instanceof SurfaceError)) return undefined;
  if (cause.code === "DISCONNECTED") return "sent";
  return cause.code === "UNAVAILABLE" ? "unsent" : undefined;
}
