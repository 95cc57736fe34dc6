import { SurfaceError } from "../errors.ts";

/** Whether a read found that there is nothing: no such item, or variables that nothing could ever be under. */
export function isAbsent(cause: unknown): boolean {
  try {
    return cause instanceof SurfaceError && (cause.code === "ABSENT" || cause.code === "VALIDATION_ERROR");
  } catch {
    // A trap of what was thrown.
    return false;
  }
}
