import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import type { JsonSchema } from "./json.ts";
import {
  isSchema,
  standardOf,
  describeInvalidSchema,
  type InferInput,
  type InferOutput,
  type Schema,
} from "./standard.ts";

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
