import { compilePlan } from "./compile-plan.ts";
import { decodePlanned } from "./decode-planned.ts";
import { encodeAny } from "./encode-any.ts";
import { encodePlanned } from "./encode-planned.ts";
import { isJsonObject } from "./json.ts";
import type { JsonValue } from "./json.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { prunePlanned } from "./prune-planned.ts";
import { createWalkPath } from "./walk-path.ts";
import type { WirePlan } from "./wire-plan.ts";

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
  /** Drops the fields of a value off the wire that closed objects do not declare. Never throws. */
  prune(json: JsonValue): JsonValue;
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
  prune: (json) => json,
  stringify: (value) => JSON.stringify(encodeUnknown(value)),
};

function encodeUnknown(value: unknown): JsonValue {
  return value === undefined ? null : encodeAny(value, createWalkPath());
}

/** The codec of a schema. The first value compiles its plan: most tools of a large server are never called. */
export class SchemaCodec implements WireCodec {
  readonly #document: SchemaDocument;
  /** Whether a validated value of a plain plan is written by one bare `JSON.stringify`. */
  readonly #trusted: boolean;
  /** Whether a value travels under the key `value`. An undefined value is an absent key. */
  readonly #wrapped: boolean;
  #plan: WirePlan | undefined;

  constructor(
    document: SchemaDocument,
    { trusted, wrapped }: { readonly trusted: boolean; readonly wrapped: boolean },
  ) {
    this.#document = document;
    this.#trusted = trusted;
    // References of foreign schemas may lead nowhere or in circles: an error at startup, and not in a call.
    if (!trusted) this.#planned();
    this.#wrapped = wrapped;
  }

  encode(value: unknown): JsonValue {
    if (!this.#wrapped) return this.#encodeBare(value);
    return value === undefined ? {} : { value: this.#encodeBare(value) };
  }

  decode(json: JsonValue): unknown {
    const plan = this.#planned();
    if (!this.#wrapped) return plan.coded ? decodePlanned(plan, json) : json;
    const value = isJsonObject(json) && Object.hasOwn(json, "value") ? json["value"] : undefined;
    return value === undefined ? undefined : decodePlanned(plan, value);
  }

  prune(json: JsonValue): JsonValue {
    const plan = this.#planned();
    if (!this.#wrapped) return prunePlanned(plan, json);
    const value = isJsonObject(json) && Object.hasOwn(json, "value") ? json["value"] : undefined;
    return value === undefined ? {} : { value: prunePlanned(plan, value) };
  }

  stringify(value: unknown): string {
    if (!this.#wrapped) return this.#stringifyBare(value);
    return value === undefined ? "{}" : `{"value":${this.#stringifyBare(value)}}`;
  }

  #planned(): WirePlan {
    return (this.#plan ??= compilePlan(this.#document));
  }

  #encodeBare(value: unknown): JsonValue {
    return encodePlanned(this.#planned(), value, createWalkPath());
  }

  #stringifyBare(value: unknown): string {
    const plan = this.#planned();
    if (this.#trusted && plan.plain) {
      try {
        // What the schema vouches for is never undefined, a function or a symbol at the root.
        const text: string | undefined = JSON.stringify(value);
        if (text !== undefined) return text;
      } catch {
        // A value that broke its schema's promise: the walk below names the path.
      }
    }
    return JSON.stringify(this.#encodeBare(value));
  }
}
