import type { JsonValue } from "./json.ts";
import { toJsonData } from "./schema-node.ts";

/** Writes a default or an example as JSON by what it is, without a schema. Undefined when it has no JSON form. */
export function toWireData(value: unknown): JsonValue | undefined {
  return toJsonData(unwrap(value, 0));
}

const maxDepth = 64;

function unwrap(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return Symbol("too deep");
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map || value instanceof Set)
    return Array.from(value, (item: unknown) => unwrap(item, depth + 1));
  if (Array.isArray(value)) return value.map((item) => unwrap(item, depth + 1));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unwrap(item, depth + 1)]));
}
