import { SurfaceError } from "../../errors.ts";

/** The longest topic, key or id of a job, in characters. */
const maxLength = 1024;

/** Refuses what names nothing in a memory context. @throws SurfaceError `INVALID_OPTION`. */
export function assertText(value: unknown, attempt: string, what: string): asserts value is string {
  if (typeof value === "string" && value !== "" && value.length <= maxLength) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be a text of 1 to ${maxLength} characters`);
}

/** Refuses what is no span of time. @throws SurfaceError `INVALID_OPTION`. */
export function assertMilliseconds(value: unknown, attempt: string, what: string): asserts value is number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be in milliseconds, more than 0`);
}
