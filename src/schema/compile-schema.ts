import { SurfaceError } from "../errors.ts";
import { deepFreeze, isJsonObject, toList } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { normalise } from "./normalise.ts";
import { readStandard } from "./read-standard.ts";
import type { RawSchema } from "./read-standard.ts";
import { readZod } from "./read-zod.ts";
import { toReaderSchema } from "./reader-schema.ts";
import { SchemaDocument, tidyNode } from "./schema-document.ts";
import { isZod3, standardOf, zod3Advice } from "./standard.ts";
import type { Schema, SchemaSide } from "./standard.ts";
import { SchemaCodec, wrapCodec } from "./wire-codec.ts";
import type { BareCodec, WireCodec } from "./wire-codec.ts";
import { wireKey } from "./wire-forms.ts";
import { isZodSchema } from "./zod-schema.ts";

/** One side of a schema: the JSON Schema for agents, and the wire form of its values. Immutable; one per schema and side. */
export interface CompiledSchema {
  /** Deep-frozen JSON Schema 2020-12, self-contained, root always `type: "object"`, without `$schema`. */
  readonly json: JsonSchema;
  /** Whether the value is not an object and travels under the key `value`. The codec does the wrapping. */
  readonly wrapped: boolean;
  /** Whether the value may be undefined. Undefined travels as nothing, or as null where a value must be present. */
  readonly optional: boolean;
  /** Encodes to, and decodes from, the values that {@link CompiledSchema.json} describes. */
  readonly codec: WireCodec;
  /** The same for the value without a wrapper. */
  readonly bare: { readonly json: JsonSchema; readonly codec: BareCodec };
  /** Returns the schema of the value without a wrapper for the readers of links, by `toReaderSchema`. Created once, on first use. */
  readonly reader: () => JsonSchema;
}

const caches: Record<SchemaSide, WeakMap<Schema, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };
const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required"];
/** The root of a value that is always undefined. Closed, so that a model reads "takes nothing" and not "takes anything". */
const noFields: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  additionalProperties: false,
});
const noCodec: BareCodec = Object.freeze({
  encode: () => ({}),
  decode: () => undefined,
  prune: () => ({}),
  stringify: () => "{}",
});
/** The arguments of a member without an input schema. Decoding drops the fields that a host adds. */
const noInput: CompiledSchema = Object.freeze({
  json: noFields,
  wrapped: false,
  optional: true,
  codec: noCodec,
  bare: Object.freeze({ json: noFields, codec: noCodec }),
  reader: () => noFields,
});

/** Compiles the schema of a member's arguments, which an agent sends. See {@link compileSchema}. */
export function toInputSchema(schema: Schema | undefined, where: string): CompiledSchema {
  return schema === undefined ? noInput : compileSchema(schema, "input", where);
}

/** Compiles the schema of a member's result. Without a schema, use `anyCodec` for its values. See {@link compileSchema}. */
export function toOutputSchema(schema: Schema | undefined, where: string): CompiledSchema | undefined {
  return schema === undefined ? undefined : compileSchema(schema, "output", where);
}

/**
 * Converts one side of a schema to JSON Schema, once for each schema. The wire plan and the schema for readers follow on first use.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where` and, for a reference, the path. Its `cause` is the error of the
 *   schema's library, also a stack overflow of an endless schema.
 */
export function compileSchema(schema: Schema, side: SchemaSide, where: string): CompiledSchema {
  const cached = caches[side].get(schema);
  if (cached !== undefined) return cached;
  try {
    const compiled = compile(readJsonSchema(schema, side), side);
    caches[side].set(schema, compiled);
    return compiled;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const why = cause instanceof RangeError ? "it is nested too deep, or without end" : reason;
    throw new SurfaceError(
      "SCHEMA_UNSUPPORTED",
      `Cannot convert the ${side} schema of ${where} to JSON Schema: ${why}`,
      {
        cause,
      },
    );
  }
}

function compile(raw: RawSchema, side: SchemaSide): CompiledSchema {
  const document = new SchemaDocument(raw.document);
  const isPooled = raw.rebuilds;
  const json = normalise(document, isPooled);
  // An object that may be undefined has no JSON form at the root of a result; wrapped it is an absent key.
  const wrapped = !isObjectSchema(json) || (side === "output" && raw.optional);
  // Nothing travels for a value that is always undefined, so that the object around it has no fields.
  const isAbsent = wrapped && tidyNode(raw.document)[wireKey] === "absent";
  const toReader = (): JsonSchema => {
    const bare = toReaderSchema(document, { isPooled });
    return deepFreeze(wrapped ? bare : { type: "object", ...bare });
  };
  const root = isAbsent ? noFields : deepFreeze(toObjectRoot(json, { wrapped, optional: raw.optional }));
  const bare = Object.freeze(new SchemaCodec(document, { isTrusted: isPooled, isResolved: raw.isResolved }));
  let reader: JsonSchema | undefined;
  return Object.freeze({
    json: root,
    wrapped,
    optional: raw.optional,
    codec: wrapped ? Object.freeze(wrapCodec(bare)) : bare,
    bare: Object.freeze({ json: isAbsent ? {} : wrapped ? json : root, codec: bare }),
    reader: () => (reader ??= toReader()),
  });
}

/** Reads JSON Schema from zod's definition, or from Standard JSON Schema, where `withJsonSchema` puts an explicit one. */
function readJsonSchema(schema: Schema, side: SchemaSide): RawSchema {
  const raw = isZodSchema(schema) ? readZod(schema, side) : readStandard(schema, side);
  if (raw !== undefined) return raw;
  if (isZod3(schema)) throw new SurfaceError("SCHEMA_UNSUPPORTED", zod3Advice);
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `schema library "${standardOf(schema).vendor}" gives no JSON Schema: ` +
      "need Standard JSON Schema (~standard.jsonSchema), zod 4, or withJsonSchema(validator, json)",
  );
}

/** Tells whether every value of a normalised schema is an object: then it can be a root. */
function isObjectSchema(json: JsonObject): boolean {
  if (json["type"] !== undefined) return json["type"] === "object";
  const isObject = (arm: JsonValue): boolean => isJsonObject(arm) && isObjectSchema(arm);
  const unions = [toList(json["anyOf"]), toList(json["oneOf"])].filter((arms) => arms.length > 0);
  if (unions.some((arms) => arms.every(isObject)) || toList(json["allOf"]).some(isObject)) return true;
  return unions.length === 0 && objectKeywords.some((key) => json[key] !== undefined);
}

/**
 * Returns a root that hosts accept. An object schema gets `type: "object"`, also beside arms that have it. Any other schema becomes
 * the property `value` of an object, required unless it may be undefined.
 */
function toObjectRoot(json: JsonObject, options: { wrapped: boolean; optional: boolean }): JsonObject {
  if (!options.wrapped) return { type: "object", ...json };
  const required = options.optional ? {} : { required: ["value"] };
  return { type: "object", properties: { value: json }, ...required, additionalProperties: false };
}
