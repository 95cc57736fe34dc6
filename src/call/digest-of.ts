import { createHash } from "node:crypto";
import { canonicalText } from "../schema/canonical-text.ts";
import type { JsonValue } from "../schema/json.ts";

/** Names a value: equal values alike, others differently. */
export function digestOf(json: JsonValue): string {
  return createHash("sha256").update(canonicalText(json)).digest("base64url");
}
