import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";

const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required"];

/** The root of a value that never travels. Closed, so that a model reads "takes nothing" and not "takes anything". */
export const noFields: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  additionalProperties: false,
});

/** Tells whether every value of a normalised schema is an object: then it can be a root. */
export function isObjectSchema(json: JsonObject): boolean {
  if (json["type"] !== undefined) return json["type"] === "object";
  const arms = [json["anyOf"], json["oneOf"]].filter((list) => list !== undefined);
  if (arms.some((list) => everyArm(list))) return true;
  if (Array.isArray(json["allOf"]) && json["allOf"].some((arm) => isJsonObject(arm) && isObjectSchema(arm)))
    return true;
  return arms.length === 0 && objectKeywords.some((key) => json[key] !== undefined);
}

/**
 * The root that a host accepts: an object schema says `type: "object"` itself, whatever its arms say; everything else
 * becomes the property `value` of an object, required unless it may be undefined.
 */
export function toObjectRoot(json: JsonObject, options: { wrapped: boolean; optional: boolean }): JsonObject {
  if (!options.wrapped) return { type: "object", ...json };
  const required = options.optional ? {} : { required: ["value"] };
  return { type: "object", properties: { value: json }, ...required, additionalProperties: false };
}

function everyArm(list: JsonValue): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((arm) => isJsonObject(arm) && isObjectSchema(arm));
}
