import { SurfaceError } from "../../errors.ts";

/** Why no value could be had. */
export function toReason(cause: unknown): "invalid" | "lost" {
  try {
    return cause instanceof SurfaceError && cause.code === "INVALID_OUTPUT" ? "invalid" : "lost";
  } catch {
    // A proxy may throw when it is asked what it is.
    return "lost";
  }
}
