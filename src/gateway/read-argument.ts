import { SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";

/** What is thrown for an argument that does not fit: a `VALIDATION_ERROR` that names where, and what was expected. */
export function misfit(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Reading "${path}": it does not fit`, { issues: [{ path, message }] });
}

/** An argument as it came; `undefined` where it was left out. */
export function ownArgument(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** The text of an argument that may be left out. @throws SurfaceError `VALIDATION_ERROR`. */
export function readText(args: JsonObject, name: string, what: string): string | undefined {
  const value = ownArgument(args, name);
  if (value === undefined || typeof value === "string") return value;
  throw misfit(name, `expected ${what}, a string`);
}
