import type * as z from "zod";
import { isZodSchema, lazyTarget, zodInternals } from "./zod-schema.ts";

/** Tells whether a schema, written out with every reuse repeated, has more than `limit` nodes. Recursion counts once. */
export function exceedsTreeSize(schema: z.core.$ZodType, limit: number): boolean {
  return sizeOf(schema, new Map()) > limit;
}

function sizeOf(schema: z.core.$ZodType, sizes: Map<z.core.$ZodType, number>): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  sizes.set(schema, 1);
  let size = 1;
  for (const part of partsOf(schema)) size += sizeOf(part, sizes);
  sizes.set(schema, size);
  return size;
}

function partsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const target = lazyTarget(schema);
  if (target !== undefined) return [target];
  return Object.values(zodInternals(schema).def).flatMap((value: unknown) => {
    if (isZodSchema(value)) return [value];
    if (typeof value !== "object" || value === null) return [];
    return Object.values(value).filter((item) => isZodSchema(item));
  });
}
