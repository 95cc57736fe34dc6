import { createHmac } from "node:crypto";
import { canonicalText } from "../schema/json.ts";
import type { JsonValue } from "../schema/json.ts";

/**
 * Names a value: equal values alike, others differently.
 *
 * @param salt - without it, nobody who reads a name finds out by trying what it is a name of.
 */
export function digestOf(json: JsonValue, salt = ""): string {
  return createHmac("sha256", salt).update(canonicalText(json)).digest("base64url");
}
