import type * as z from "zod";
import type { JsonObject, JsonValue } from "./json.ts";
import { absentNode, formlessNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { bigintSchema, dateSchema, mapSchema, setSchema } from "./wire-forms.ts";
import { zodInternals } from "./zod-schema.ts";

/** Stands in for a schema that is converted on its own: a `$ref` to its document. */
export type Refer = (schema: z.core.$ZodType) => JsonObject;

const leafForms: ReadonlyMap<string, SchemaNode> = new Map([
  ["date", dateSchema],
  ["bigint", bigintSchema],
  ["undefined", absentNode()],
  ["void", absentNode()],
  ["symbol", formlessNode("symbol")],
  ["function", formlessNode("function")],
  ["nan", formlessNode("NaN")],
]);

/** Gives the documented form of a zod type that JSON Schema cannot say, or undefined where anything goes. */
export function zodForm(schema: z.core.$ZodTypes, refer: Refer): SchemaNode | undefined {
  const { def } = zodInternals(schema);
  switch (def.type) {
    case "map":
      return mapSchema(refer(def.keyType), refer(def.valueType));
    case "set":
      return setSchema(refer(def.valueType));
    case "literal":
      return literalForm(def.values);
    default:
      return leafForms.get(def.type);
  }
}

/** A literal with a bigint or undefined among its values: JSON values and bigints in arms of their own. */
function literalForm(values: readonly z.core.util.Literal[]): SchemaNode {
  const bigints = values.filter((value) => typeof value === "bigint").map(String);
  const others = values.filter((value): value is Exclude<typeof value, bigint | undefined> => {
    return value !== undefined && typeof value !== "bigint";
  });
  const arms: JsonObject[] = [];
  if (others.length > 0) arms.push(enumOf(others));
  if (bigints.length > 0) arms.push({ ...bigintSchema, enum: bigints });
  const [only] = arms;
  if (only === undefined) return absentNode();
  return arms.length === 1 ? only : { anyOf: arms };
}

function enumOf(values: readonly JsonValue[]): JsonObject {
  const isText = values.every((value) => typeof value === "string");
  return isText ? { type: "string", enum: values } : { enum: values };
}
