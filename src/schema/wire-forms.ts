/**
 * The table of JSON forms for values that JSON does not have. Agents and links share it.
 *
 * | in memory | on the wire |
 * |---|---|
 * | `Date` | ISO 8601 string with `format: "date-time"`; a bare date counts as midnight UTC when read |
 * | `bigint` | decimal string, at most 4,096 digits |
 * | `Map` | array of `[key, value]` pairs |
 * | `Set` | array |
 */
import type { JsonObject } from "./json.ts";

/** The name of a wire form. `checked` means that the schema describes JSON, and values may still not be JSON. */
export type WireForm = "date" | "bigint" | "map" | "set" | "absent" | "checked";

/** The internal keyword for the wire form of a node. Emitted schemas do not have it. */
export const wireKey = "~wire";

// BigInt parsing is superlinear in its digits: this bounds what one string from the wire may cost (microseconds).
const maxBigintDigits = 4096;
const bigintPattern = "^-?[0-9]+$";
const bigintRegExp = /^-?[0-9]+$/;
const isoRegExp = /^([+-]\d{6}|\d{4})-\d{2}-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** The JSON Schema of a date on the wire. */
export const dateSchema: JsonObject = { type: "string", format: "date-time", [wireKey]: "date" };

/** The JSON Schema of a bigint on the wire. */
export const bigintSchema: JsonObject = {
  type: "string",
  pattern: bigintPattern,
  description: "Integer as a decimal string",
  [wireKey]: "bigint",
};

/** Returns the JSON Schema of a map on the wire, from the schemas of its keys and values. */
export function mapSchema(key: unknown, value: unknown): Readonly<Record<string, unknown>> {
  const pair = { type: "array", prefixItems: [key, value], items: false, minItems: 2, maxItems: 2 };
  return { type: "array", items: pair, description: "Map as an array of [key, value] pairs", [wireKey]: "map" };
}

/** Returns the JSON Schema of a set on the wire, from the schema of its items. */
export function setSchema(item: unknown): Readonly<Record<string, unknown>> {
  return { type: "array", items: item, description: "Set as an array", [wireKey]: "set" };
}

/**
 * Reads a date off the wire: ISO 8601 with a time zone, or a bare date. Any looser form would depend on the machine's zone. Returns
 * undefined for any other text, and for dates that do not exist (`2026-02-30`).
 */
export function toDate(text: string): Date | undefined {
  const match = isoRegExp.exec(text);
  if (match === null) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return undefined;
  // Every month has 28 days. Some engines read 30 February as 2 March.
  if (Number(match[2]) <= 28) return date;
  const day = new Date(`${text.slice(0, text.indexOf("T") === -1 ? undefined : text.indexOf("T"))}T00:00:00Z`);
  return day.getUTCDate() === Number(match[2]) ? date : undefined;
}

/** Reads a bigint off the wire, or returns undefined when the text is not one. */
export function toBigint(text: string): bigint | undefined {
  return text.length <= maxBigintDigits && bigintRegExp.test(text) ? BigInt(text) : undefined;
}

/** Writes a bigint for the wire, or returns undefined when it has more digits than a reader accepts. */
export function fromBigint(value: bigint): string | undefined {
  const text = value.toString();
  return text.length <= maxBigintDigits ? text : undefined;
}
