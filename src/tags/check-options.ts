import { SurfaceError } from "../errors.ts";
import { maxTimeoutMs, toolOptionNames, type ToolOptions } from "./tool-options.ts";

const known: ReadonlySet<string> = new Set(toolOptionNames);
const flags = ["mutates", "destructive", "idempotent", "openWorld"] as const;

function checkTimeout(options: ToolOptions, where: string): void {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return;
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > maxTimeoutMs) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Setting "timeoutMs" of ${where}: ${timeoutMs} is not between 1 and ${maxTimeoutMs} milliseconds`,
    );
  }
}

/**
 * Refuses options that the compiler would have refused, for callers who cast.
 *
 * @throws SurfaceError `INVALID_OPTION` for an unknown key or a bad value, `CONTRADICTION` for a tool that is said to be
 * destructive and not to mutate.
 */
export function assertToolOptions(options: ToolOptions, where: string): void {
  for (const key of Object.keys(options)) {
    if (!known.has(key)) throw new SurfaceError("INVALID_OPTION", `Tagging ${where}: "${key}" is not a tool option`);
  }
  for (const flag of flags) {
    const value: unknown = options[flag];
    if (value !== undefined && typeof value !== "boolean") {
      throw new SurfaceError("INVALID_OPTION", `Setting "${flag}" of ${where}: it must be true or false`);
    }
  }
  if (options.destructive === true && options.mutates === false) {
    throw new SurfaceError("CONTRADICTION", `Tagging ${where}: a tool that does not mutate cannot be destructive`);
  }
  checkTimeout(options, where);
}
