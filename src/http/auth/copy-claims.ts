import { deepFreeze } from "../../schema/deep-freeze.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";

/** How much of them there may be, in characters of JSON. */
export const maxClaimsChars: number = 16 * 1024;

/** A frozen copy of what a handler is told of a caller besides. `undefined`: it is no object in JSON, or more than 16 Ki characters. */
export function copyClaims(claims: unknown): JsonObject | undefined {
  const text = isJsonObject(claims) ? JSON.stringify(claims) : "";
  if (text === "" || text.length > maxClaimsChars) return undefined;
  const copy: unknown = JSON.parse(text);
  return isJsonObject(copy) ? deepFreeze(copy) : undefined;
}
