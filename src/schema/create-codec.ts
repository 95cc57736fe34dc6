import { decodePlanned } from "./decode-planned.ts";
import { encodePlanned } from "./encode-planned.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { createWalkPath } from "./walk-path.ts";
import type { WireCodec } from "./wire-codec.ts";
import type { WirePlan } from "./wire-plan.ts";

/**
 * The codec of a schema. With `trusted`, a validated value of a plain plan is written by one bare `JSON.stringify`.
 */
export function createCodec(plan: WirePlan, trusted: boolean): WireCodec {
  const encode = (value: unknown): JsonValue => encodePlanned(plan, value, createWalkPath());
  const stringify = (value: unknown): string => JSON.stringify(encode(value));
  return {
    encode,
    decode: plan.coded ? (json) => decodePlanned(plan, json) : (json) => json,
    stringify: trusted && plan.plain ? (value) => stringifyPlain(value, stringify) : stringify,
  };
}

/** A codec that carries its value under the key `value`. An undefined value is an absent key. */
export function wrapCodec(inner: WireCodec): WireCodec {
  return {
    encode: (value): JsonObject => (value === undefined ? {} : { value: inner.encode(value) }),
    decode: (json) => {
      const value = isJsonObject(json) && Object.hasOwn(json, "value") ? json["value"] : undefined;
      return value === undefined ? undefined : inner.decode(value);
    },
    stringify: (value) => (value === undefined ? "{}" : `{"value":${inner.stringify(value)}}`),
  };
}

function stringifyPlain(value: unknown, carefully: (value: unknown) => string): string {
  try {
    // What the schema vouches for is never undefined, a function or a symbol at the root.
    return JSON.stringify(value) ?? carefully(value);
  } catch {
    // A value that broke its schema's promise: the careful walk names the path.
    return carefully(value);
  }
}
