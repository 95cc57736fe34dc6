import type { LogLevel } from "../catalog/entry.ts";

/** How much each level matters. */
const weights: ReadonlyMap<unknown, number> = new Map(
  // The order of RFC 5424, the least first.
  (["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] satisfies LogLevel[]).map(
    (level, weight) => [level, weight],
  ),
);

/** Whether a value is one of the levels of a log. */
export function isLogLevel(value: unknown): value is LogLevel {
  return weights.has(value);
}

/** Whether `level` matters at least as much as `least`. What is no level matters to nobody. */
export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return (weights.get(level) ?? -1) >= (weights.get(least) ?? Infinity);
}
