/** Standard Schema, under the names the package uses. */
import type { StandardSchemaV1 } from "@standard-schema/spec";

/**
 * Any validator that speaks Standard Schema. Both type parameters are covariant, so every zod, zod/mini, arktype,
 * valibot or wrapped TypeBox schema is assignable to plain `Schema`.
 */
export type Schema<TInput = unknown, TOutput = TInput> = StandardSchemaV1<TInput, TOutput>;

/** What a producer may hand to the schema: the type before defaults and transforms. */
export type InferInput<TSchema extends Schema> = StandardSchemaV1.InferInput<TSchema>;

/** What comes out of the schema: the type after defaults and transforms. */
export type InferOutput<TSchema extends Schema> = StandardSchemaV1.InferOutput<TSchema>;

/**
 * Tells whether a value is a Standard Schema, version 1. Callable schemas count (arktype's are functions).
 *
 * @param value - anything; never throws for plain data.
 */
export function isSchema(value: unknown): value is Schema {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const standard: unknown = "~standard" in value ? value["~standard"] : undefined;
  if (typeof standard !== "object" || standard === null) return false;
  return "version" in standard && standard.version === 1 && "validate" in standard && isFunction(standard.validate);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
