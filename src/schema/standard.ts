/** Standard Schema, under the names the package uses. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import type { JsonSchema } from "./json.ts";

// Only the presence of the property: comparing a zod object with `StandardSchemaV1` costs the compiler 127 instantiations, about
// half the cost of a member without a handler.
/**
 * A validator that implements Standard Schema, such as one of zod, zod/mini, arktype or valibot. The compiler checks that
 * `~standard` is there; defining a member checks what it holds.
 */
export interface Schema {
  readonly "~standard": unknown;
}

/** A side of a schema: the values before validation, or after it. */
export type SchemaSide = "input" | "output";

/** The pair `{ input, output }` of types of a schema. Reads `_zod` of zod: its `~standard` costs 110 instantiations more. */
type TypesOf<TSchema extends Schema> = TSchema extends { readonly _zod: { readonly output: unknown } }
  ? TSchema["_zod"]
  : TSchema["~standard"] extends { readonly types?: unknown }
    ? NonNullable<TSchema["~standard"]["types"]>
    : { readonly input: unknown; readonly output: unknown };

/** The type of a schema's input, before defaults and transforms. */
export type InferInput<TSchema extends Schema> = TypesOf<TSchema>["input" & keyof TypesOf<TSchema>];

/** The type of a schema's output, after defaults and transforms. */
export type InferOutput<TSchema extends Schema> = TypesOf<TSchema>["output" & keyof TypesOf<TSchema>];

/** Returns the Standard Schema properties of a schema. */
export function standardOf(schema: Schema): StandardSchemaV1.Props {
  // Members, tools and operations hold schemas that isSchema() has accepted.
  return schema["~standard"] as StandardSchemaV1.Props;
}

/** Tells whether a value is a Standard Schema, version 1. Callable schemas count (arktype's are functions). */
export function isSchema(value: unknown): value is Schema {
  if (!isObject(value) && !isFunction(value)) return false;
  // zod creates the property on first read, which costs a start with many tools more than this check.
  if ("_zod" in value) return "~standard" in value;
  const standard: unknown = "~standard" in value ? value["~standard"] : undefined;
  if (!isObject(standard)) return false;
  return "version" in standard && standard.version === 1 && "validate" in standard && isFunction(standard.validate);
}

/** Tells whether a value has a `~standard` and is no Standard Schema of version 1. It is no JSON Schema either. */
export function isInvalidSchema(value: object): boolean {
  return "~standard" in value && !isSchema(value);
}

/** Describes a value that is no Standard Schema, and the remedy; for the end of an error. */
export function describeInvalidSchema(value: unknown): string {
  if (!isObject(value)) return "it must be a Standard Schema, such as z.object({ … })";
  if (isZod3(value)) return zod3Advice;
  const fields = Object.values(value);
  const isShape = fields.length > 0 && fields.every((field) => isSchema(field) || isZod3(field));
  return isShape
    ? "it is a record of schemas; wrap it in z.object()"
    : "it must be a Standard Schema; put JSON Schema beside a validator with withJsonSchema()";
}

/** The end of an error about a schema of zod 3. */
export const zod3Advice = "it is a schema of zod 3; use zod 4, or put JSON Schema beside it with withJsonSchema()";

/** Tells whether a value is a schema of zod 3, whose later versions are Standard Schemas without JSON Schema. */
export function isZod3(value: unknown): boolean {
  if (!isObject(value) || "_zod" in value) return false;
  return "_def" in value && "safeParse" in value && isFunction(value.safeParse);
}

/** A validator with a JSON Schema beside it. */
export type SchemaWithJson<TInput, TOutput> = StandardSchemaV1<TInput, TOutput> & StandardJSONSchemaV1<TInput, TOutput>;

type JsonSides = JsonSchema | { readonly input: JsonSchema; readonly output: JsonSchema };

// The first overload types the parameters of a validator that is written in place; the second takes any `Schema`.
/**
 * Puts an explicit JSON Schema beside a validator, for libraries that give none (TypeBox, hand-written ones) or to show agents
 * another one. It takes precedence over the JSON Schema of the validator's library. Does not change the validator. The JSON Schema is
 * read when the member is first exposed.
 *
 * @param json - draft 2020-12 or draft-07; one for both sides, or `{ input, output }` where they differ. The types
 *   `"Date"` and `"bigint"`, as TypeBox writes them, become their wire forms.
 * @throws SurfaceError `INVALID_OPTION` when `validator` is not a Standard Schema.
 */
export function withJsonSchema<TSchema extends StandardSchemaV1>(
  validator: TSchema,
  json: JsonSides,
): SchemaWithJson<InferInput<TSchema>, InferOutput<TSchema>>;
export function withJsonSchema<TSchema extends Schema>(
  validator: TSchema,
  json: JsonSides,
): SchemaWithJson<InferInput<TSchema>, InferOutput<TSchema>>;
export function withJsonSchema(validator: Schema, json: JsonSides): SchemaWithJson<unknown, unknown> {
  if (!isSchema(validator)) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot put JSON Schema beside a validator: ${describeInvalidSchema(validator)}`,
    );
  }
  const sides = isPair(json) ? json : { input: json, output: json };
  const standard = standardOf(validator);
  return {
    "~standard": {
      version: 1,
      vendor: standard.vendor,
      validate: (value, options) => standard.validate(value, options),
      jsonSchema: { input: () => sides.input, output: () => sides.output },
    },
  };
}

function isPair(json: JsonSides): json is { readonly input: JsonSchema; readonly output: JsonSchema } {
  return typeof json["input"] === "object" && typeof json["output"] === "object";
}
