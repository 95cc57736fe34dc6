import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema } from "./json.ts";

/** A validator with a JSON Schema beside it. */
export type SchemaWithJson<TInput, TOutput> = StandardSchemaV1<TInput, TOutput> & StandardJSONSchemaV1<TInput, TOutput>;

/**
 * Puts an explicit JSON Schema beside a validator, for libraries that give none (TypeBox, hand-written ones) or whose
 * own is not what agents should read. It wins over whatever the validator's library would say. The argument is not
 * changed; the JSON Schema is read when the member is first exposed.
 *
 * @param json - draft 2020-12 or draft-07; one for both sides, or `{ input, output }` where they differ. The types
 *   `"Date"` and `"bigint"`, as TypeBox writes them, become their wire forms.
 */
export function withJsonSchema<TSchema extends StandardSchemaV1>(
  validator: TSchema,
  json: JsonSchema | { readonly input: JsonSchema; readonly output: JsonSchema },
): SchemaWithJson<StandardSchemaV1.InferInput<TSchema>, StandardSchemaV1.InferOutput<TSchema>> {
  const sides = isPair(json) ? json : { input: json, output: json };
  const standard = validator["~standard"];
  const schema: SchemaWithJson<StandardSchemaV1.InferInput<TSchema>, StandardSchemaV1.InferOutput<TSchema>> = {
    "~standard": {
      version: 1,
      vendor: standard.vendor,
      validate: (value, options) => standard.validate(value, options),
      jsonSchema: { input: () => sides.input, output: () => sides.output },
    },
  };
  return schema;
}

function isPair(
  json: JsonSchema | { readonly input: JsonSchema; readonly output: JsonSchema },
): json is { readonly input: JsonSchema; readonly output: JsonSchema } {
  return typeof json["input"] === "object" && typeof json["output"] === "object";
}
