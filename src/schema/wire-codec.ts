import { encodeAny } from "./encode-any.ts";
import type { JsonValue } from "./json.ts";
import { createWalkPath } from "./walk-path.ts";

/**
 * Turns values into their one JSON form and back. `decode` never runs a schema: what does not look like the wire form
 * stays as it is, so that validation reports it.
 */
export interface WireCodec {
  /**
   * Writes a validated value. Parts that are JSON already are shared with the input, so neither side may be mutated
   * while the other is in use. Errors: `UNSERIALISABLE`, naming the path.
   */
  encode(value: unknown): JsonValue;
  /** Reads a value off the wire; what needs no change is returned as it is. Never throws. */
  decode(json: JsonValue): unknown;
  /** The text of {@link encode}, in one step where the schema says that the value is JSON all the way down. */
  stringify(value: unknown): string;
}

/**
 * The codec of a member without a schema: JSON values and dates, undefined properties dropped as JSON drops them,
 * undefined itself written as null. Everything else that JSON would lose is refused with `UNSERIALISABLE`.
 */
export const anyCodec: WireCodec = {
  encode: encodeUnknown,
  decode: (json) => json,
  stringify: (value) => JSON.stringify(encodeUnknown(value)),
};

function encodeUnknown(value: unknown): JsonValue {
  return value === undefined ? null : encodeAny(value, createWalkPath());
}
