import type * as z from "zod";

/** Tells whether a value is a zod 4 schema, also of zod/mini or of another copy of zod. */
export function isZodSchema(value: unknown): value is z.core.$ZodTypes {
  if (typeof value !== "object" || value === null || !("_zod" in value)) return false;
  const { _zod: internals } = value;
  return typeof internals === "object" && internals !== null && "def" in internals;
}

/** What zod publishes for library authors: a schema's definition and flags. The one place that reads `_zod`. */
export function zodInternals<TSchema extends { readonly _zod: unknown }>(schema: TSchema): TSchema["_zod"] {
  const { _zod: internals } = schema;
  return internals;
}

/** What a lazy schema stands for, from its own cache: its getter may build a new schema each time. */
export function lazyTarget(schema: z.core.$ZodType): z.core.$ZodTypes | undefined {
  const internals = zodInternals(schema);
  return "innerType" in internals && isZodSchema(internals.innerType) ? internals.innerType : undefined;
}
