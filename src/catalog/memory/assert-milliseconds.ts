import { SurfaceError } from "../../errors.ts";

/** Refuses what is no span of time. @throws SurfaceError `INVALID_OPTION`. */
export function assertMilliseconds(value: unknown, attempt: string, what: string): asserts value is number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be in milliseconds, more than 0`);
}
