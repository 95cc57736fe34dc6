import type * as z from "zod";
import { isZodSchema, lazyTarget, zodInternals } from "./zod-schema.ts";

/** Tells whether a schema, or any part of it, gives out another value than it takes. */
export function isTransforming(schema: z.core.$ZodType, seen: Set<unknown> = new Set()): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { def, traits } = zodInternals(schema);
  if (traits.has("$ZodTransform") || traits.has("$ZodCodec")) return true;
  const target = lazyTarget(schema);
  const parts: unknown[] = target === undefined ? Object.values(def).flatMap(partsOf) : [target];
  return parts.some((part) => isZodSchema(part) && isTransforming(part, seen));
}

function partsOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null || isZodSchema(value)) return [value];
  return Object.values(value);
}
