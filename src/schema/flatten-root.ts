import { isJsonObject } from "./json.ts";
import { setOwn } from "./set-own.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { distinct, fieldsOf, isForbidden } from "./object-fields.ts";
import type { Field } from "./object-fields.ts";
import { orderKeywords } from "./keywords.ts";
import { toRulesText } from "./union-rules.ts";

// One provider or another rejects each of these at a root.
const refusedKeywords = ["allOf", "anyOf", "oneOf", "not", "if", "enum", "const"] as const;
const foldedKeywords: ReadonlySet<string> = new Set([
  ...refusedKeywords,
  ...["properties", "required", "additionalProperties", "unevaluatedProperties"],
  ...["then", "else", "dependentSchemas"],
]);

/** Returns the keywords at the root of an input that large providers reject, together with the whole session. */
export function refusedAtRoot(json: JsonSchema): readonly string[] {
  return refusedKeywords.filter((keyword) => json[keyword] !== undefined);
}

/**
 * Writes the root of a tool's input as one plain object. Alternatives become optional fields, a discriminator becomes an enum of
 * its values, and the description says which fields belong together. The original schema still validates.
 */
export function flattenRoot(json: JsonSchema): JsonSchema {
  if (refusedAtRoot(json).length === 0) return json;
  const fields = fieldsOf(json);
  const properties: JsonObject = {};
  for (const [name, field] of fields.named) {
    if (field.variants.length > 0) setOwn(properties, name, toShown(field));
  }
  const kept = Object.entries(json).filter(([key]) => !foldedKeywords.has(key));
  const texts = [json["description"], toRulesText(json, fields)].flatMap((text) => {
    return typeof text === "string" && text !== "" ? [text] : [];
  });
  return orderKeywords({
    ...Object.fromEntries(kept),
    type: "object",
    properties,
    ...(fields.required.size === 0 ? {} : { required: [...fields.required] }),
    ...(isForbidden(fields.rest) ? { additionalProperties: false } : {}),
    ...(texts.length === 0 ? {} : { description: texts.join("\n\n") }),
  });
}

/** One schema for a field that alternatives describe differently. */
function toShown({ variants }: Field): JsonValue {
  const arms = distinct(variants.flatMap(armsOf));
  const [only] = arms;
  const shown = distinct(variants);
  if (shown.length === 1 && shown[0] !== undefined) return shown[0];
  if (arms.length === 1 && only !== undefined) return only;
  return mergeEnums(arms) ?? { anyOf: [...arms] };
}

/** The arms of a union, so that a union of unions is one list. */
function armsOf(variant: JsonValue): readonly JsonValue[] {
  if (isJsonObject(variant) && Object.keys(variant).length === 1 && Array.isArray(variant["anyOf"]))
    return variant["anyOf"];
  return [variant === true ? {} : variant];
}

function mergeEnums(variants: readonly JsonValue[]): JsonObject | undefined {
  const nodes = variants.filter(isJsonObject);
  const [first] = nodes;
  if (first === undefined || nodes.length < variants.length) return undefined;
  const isEnum = nodes.every((node) => Array.isArray(node["enum"]) && node["type"] === first["type"]);
  if (!isEnum) return undefined;
  const values = nodes.flatMap((node) => (Array.isArray(node["enum"]) ? node["enum"] : []));
  const { type, description } = first;
  const isShared = description !== undefined && nodes.every((node) => node["description"] === description);
  return {
    ...(type === undefined ? {} : { type }),
    ...(isShared ? { description } : {}),
    enum: [...new Set(values)],
  };
}
