import { deepFreeze, isJsonObject } from "../schema/json.ts";
import type { JsonObject, JsonSchema } from "../schema/json.ts";
import { orderKeywords } from "../schema/keywords.ts";

/** Adds optional fields to the input of a tool, which is one plain object; the schema given is not changed. */
export function withFields(json: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { properties, propertyNames } = json;
  const names = { anyOf: [propertyNames ?? {}, { type: "string", enum: Object.keys(fields) }] };
  const admitting: JsonObject = propertyNames === undefined ? {} : { propertyNames: names };
  const own: JsonObject = isJsonObject(properties) ? properties : {};
  return deepFreeze(orderKeywords({ ...json, ...admitting, properties: { ...own, ...fields } }));
}
