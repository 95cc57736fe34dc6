import { SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";

/** Creates the `VALIDATION_ERROR` for an argument, with its path and the value expected. */
export function misfit(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Cannot read "${path}": its value does not fit`, {
    issues: [{ path, message }],
  });
}

/** Returns an argument; `undefined` if it was left out. */
export function ownArgument(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** Refuses unknown arguments: the answer to a call with an ignored one would mislead. @throws SurfaceError `VALIDATION_ERROR`. */
export function rejectUnknown(args: JsonObject, known: readonly string[], path: readonly string[] = []): void {
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const message = `there is no such argument; expected ${known.join(", ")}`;
  const issues = unknown.slice(0, maxIssues).map((name) => createIssue([...path, name], message));
  throw new SurfaceError("VALIDATION_ERROR", "Cannot read the arguments: some are unknown", { issues });
}

/** Returns an optional text. @throws SurfaceError `VALIDATION_ERROR`. */
export function readText(args: JsonObject, name: string, expected: string): string | undefined {
  const value = ownArgument(args, name);
  if (value === undefined || typeof value === "string") return value;
  throw misfit(name, `expected ${expected}, a string`);
}
