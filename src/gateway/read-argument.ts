import { SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";

/** Creates the `VALIDATION_ERROR` for an argument, with its path and the value expected. */
export function misfit(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Reading "${path}": it does not fit`, { issues: [{ path, message }] });
}

/** Returns an argument; `undefined` if it was left out. */
export function ownArgument(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/**
 * Refuses unknown arguments, the first few of them by name. If a misspelt one were ignored, its caller would take the answer for that
 * of another request.
 *
 * @throws SurfaceError `VALIDATION_ERROR`.
 */
export function rejectUnknown(args: JsonObject, known: readonly string[], path: readonly string[] = []): void {
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const message = `there is no such argument; expected ${known.join(", ")}`;
  const issues = unknown.slice(0, maxIssues).map((name) => createIssue([...path, name], message));
  throw new SurfaceError("VALIDATION_ERROR", "Reading arguments: some are unknown", { issues });
}

/** Returns the text of an optional argument. @throws SurfaceError `VALIDATION_ERROR`. */
export function readText(args: JsonObject, name: string, what: string): string | undefined {
  const value = ownArgument(args, name);
  if (value === undefined || typeof value === "string") return value;
  throw misfit(name, `expected ${what}, a string`);
}
