import * as z from "zod";
import { SurfaceError } from "../errors.ts";
import type { CompiledSchema, SchemaSide } from "./compiled-schema.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import type { Schema } from "./standard.ts";
import { anyCodec } from "./wire-codec.ts";
import type { WireCodec } from "./wire-codec.ts";

const caches: Record<SchemaSide, WeakMap<Schema, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };

/** Converts one side of a schema, once. Errors: `SCHEMA_UNSUPPORTED` naming `where`. */
export function compileSchema(schema: Schema, side: SchemaSide, where: string): CompiledSchema {
  const cached = caches[side].get(schema);
  if (cached !== undefined) return cached;
  const json = readZod(schema, side, where);
  const wrapped = json["type"] !== "object";
  const compiled = wrapped
    ? { json: wrapJson(json), wrapped, codec: wrapCodec(anyCodec) }
    : { json, wrapped, codec: anyCodec };
  caches[side].set(schema, compiled);
  return compiled;
}

function readZod(schema: Schema, io: SchemaSide, where: string): JsonObject {
  if (!(schema instanceof z.core.$ZodType)) {
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `convert the ${io} schema of "${where}": no JSON Schema found`);
  }
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  // zod builds it through JSON.parse.
  return json as JsonObject;
}

function wrapJson(json: JsonSchema): JsonSchema {
  return { type: "object", properties: { value: json }, required: ["value"], additionalProperties: false };
}

function wrapCodec(codec: WireCodec): WireCodec {
  const encode = (value: unknown) => ({ value: codec.encode(value) });
  return {
    encode,
    decode: (json) => (isRecord(json) ? codec.decode(json["value"] ?? null) : undefined),
    stringify: (value) => JSON.stringify(encode(value)),
  };
}

function isRecord(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
