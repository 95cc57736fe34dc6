import type { JsonObject, JsonValue } from "./json.ts";

/** Freezes JSON data all the way down and returns it. */
export function deepFreeze(json: JsonObject): JsonObject {
  const queue: JsonValue[] = [json];
  for (const value of queue) {
    if (typeof value !== "object" || value === null) continue;
    Object.freeze(value);
    queue.push(...Object.values(value).filter((item) => item !== undefined));
  }
  return json;
}

/** Returns whether JSON data is frozen all the way down. */
export function isDeepFrozen(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return true;
  return Object.isFrozen(data) && Object.values(data).every(isDeepFrozen);
}
