import type { JsonObject, JsonSchema } from "../schema/json.ts";
import { toInputSchema } from "../schema/to-input-schema.ts";
import type { MaybeSchema } from "../surface/member.ts";
import type { ToolInput } from "./entry.ts";
import { isJsonObject } from "./is-json-object.ts";

/** How a tool with this input schema takes its arguments. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolInput(schema: MaybeSchema, where: string): ToolInput {
  const compiled = toInputSchema(schema, where);
  return Object.freeze({
    json: compiled.json,
    decode: (args: JsonObject) => compiled.codec.decode(args),
    root: compiled.wrapped ? "value" : "",
  });
}

/** Adds optional fields to an object schema; the schema given is not changed. */
export function withFields(json: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const properties = json["properties"];
  return Object.freeze({
    ...json,
    properties: Object.freeze({ ...(isJsonObject(properties) ? properties : {}), ...fields }),
  });
}

/** Splits arguments into the member's own input and the fields that every tool of its kind takes. */
export function splitFields(args: JsonObject, names: readonly string[]): readonly [own: JsonObject, extra: JsonObject] {
  const own: JsonObject = {};
  const extra: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    // Defined, not assigned: a key named __proto__ stays a key.
    Object.defineProperty(names.includes(name) ? extra : own, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return [own, extra];
}
