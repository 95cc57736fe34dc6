import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** The keywords whose schemas describe the same object as the schema they stand in. */
export const armKeywords = ["allOf", "anyOf", "oneOf"] as const;

/** Whether an object schema, or any arm of it, names a property. */
export function hasProperty(json: JsonObject, name: string): boolean {
  const { properties } = json;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return true;
  return armKeywords.some((keyword) => {
    const arms = json[keyword];
    return Array.isArray(arms) && arms.some((arm) => isJsonObject(arm) && hasProperty(arm, name));
  });
}
