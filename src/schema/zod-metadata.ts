import type * as z from "zod";
import type { JsonValue } from "./json.ts";
import { toJsonData } from "./schema-node.ts";
import { wireKey } from "./wire-forms.ts";

type Metadata = Readonly<Record<string, unknown>>;

interface Registry {
  get(schema: z.core.$ZodType): Metadata | undefined;
}

const shapeKeywords = ["type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"];

/**
 * Returns the author's `.meta()` as JSON Schema keywords: without `id`, which is a name and no keyword, and with dates,
 * bigints, maps and sets in their wire form. A value without a wire form is left out.
 */
export function metadataOf(schema: z.core.$ZodType): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(registered(schema) ?? {})) {
    const wire = key === "id" || key === wireKey ? undefined : toWireData(value);
    if (wire !== undefined) keywords[key] = wire;
  }
  return keywords;
}

/** Tells whether metadata states the JSON Schema of a node, and not only describes it. */
export function statesShape(metadata: Metadata): boolean {
  return shapeKeywords.some((key) => metadata[key] !== undefined);
}

/**
 * Asks the copy of zod that made the schema. `zod/mini` has no `meta()`; its registry is global from zod 4.1 on, and
 * before that nothing can be known about it from outside.
 */
function registered(schema: z.core.$ZodType): Metadata | undefined {
  if ("meta" in schema && typeof schema.meta === "function") {
    // The method of a zod 4 schema: without arguments it reads.
    const metadata: unknown = Reflect.apply(schema.meta, schema, []);
    return typeof metadata === "object" && metadata !== null ? Object.fromEntries(Object.entries(metadata)) : undefined;
  }
  return sharedRegistry()?.get(schema);
}

function sharedRegistry(): Registry | undefined {
  const registry: unknown = Reflect.get(globalThis, "__zod_globalRegistry");
  const isRegistry = typeof registry === "object" && registry !== null && "get" in registry;
  // zod's own name for the registry that all its copies share.
  return isRegistry ? (registry as Registry) : undefined;
}

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
