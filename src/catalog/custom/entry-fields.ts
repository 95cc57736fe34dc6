import { isRecord } from "../../options/is-object.ts";
import { callable, option, required, type Option, type OptionFields } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { isSchema, whyNoSchema } from "../../schema/standard.ts";
import { maxPatternLength, maxPatterns } from "../glob.ts";

/** Standard Schemas. */
export const standardSchema: Option = {
  problem: (value, path) => (isSchema(value) ? undefined : `its "${path}": ${whyNoSchema(value)}`),
};

/** The function that an entry cannot do without. */
export const handler: Option = { ...required(callable), code: "MISSING_HANDLER" };

/** Patterns of the entries that a handler may call. */
export const reach: Option = option(
  `a list of at most ${maxPatterns} patterns, each 1 to ${maxPatternLength} characters`,
  (value) => Array.isArray(value) && value.length <= maxPatterns && Array.from<unknown>(value).every(isPattern),
);

function isPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && pattern !== "" && pattern.length <= maxPatternLength;
}

/**
 * Reads an entry that was written by hand. Its functions are called on the entry itself, which may be an instance of a class.
 *
 * @param doing - the start of messages: `Adding tool "run"`.
 * @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`.
 */
export function readEntry<TEntry extends object>(given: unknown, fields: OptionFields<TEntry>, doing: string): TEntry {
  // Every field is checked, and a value without any lacks a handler.
  return readOptions((isRecord(given) ? given : {}) as TEntry, fields, doing);
}
