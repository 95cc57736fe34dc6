import { deepFreeze } from "../schema/deep-freeze.ts";
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { orderKeywords } from "../schema/order-keywords.ts";
import { armKeywords } from "./has-property.ts";

/**
 * Adds optional fields to an object schema; the schema given is not changed. An arm that is closed would refuse what
 * stands beside its own properties, so the fields are let through there too.
 */
export function withFields(json: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const open = admitInArms({ ...json }, Object.keys(fields));
  return deepFreeze(orderKeywords({ ...open, properties: { ...propertiesOf(open), ...fields } }));
}

function propertiesOf(json: JsonObject): JsonObject {
  const { properties } = json;
  return isJsonObject(properties) ? properties : {};
}

function admitInArms(json: JsonObject, names: readonly string[]): JsonObject {
  const admitting: Record<string, JsonValue | undefined> = { ...json };
  for (const keyword of armKeywords) {
    const arms = json[keyword];
    if (Array.isArray(arms)) admitting[keyword] = arms.map((arm) => (isJsonObject(arm) ? admit(arm, names) : arm));
  }
  const { propertyNames } = json;
  if (propertyNames !== undefined) admitting["propertyNames"] = { anyOf: [propertyNames, { enum: [...names] }] };
  // Every value was a JSON value before.
  return admitting as JsonObject;
}

function admit(arm: JsonObject, names: readonly string[]): JsonObject {
  const open = admitInArms(arm, names);
  const { additionalProperties } = arm;
  if (additionalProperties === undefined || additionalProperties === true) return open;
  // The root says what they are.
  const any = Object.fromEntries(names.map((name) => [name, {}]));
  return { ...open, properties: { ...propertiesOf(arm), ...any } };
}
