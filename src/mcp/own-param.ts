import type { JsonObject } from "../schema/json.ts";

/** An own property of params; inherited names are nobody's arguments. */
export function ownParam(params: JsonObject | undefined, key: string): unknown {
  return params !== undefined && Object.hasOwn(params, key) ? params[key] : undefined;
}
