import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** How many alternatives inside each other are looked at. */
const maxDepth = 8;

function own(schema: JsonObject, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

function toTexts(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) =>
    typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [String(value)] : [],
  );
}

/**
 * Every value that a schema of a scalar allows, spelled as in a URI; `undefined` where it does not name them one by one.
 * Alternatives count where each of them does.
 */
export function valuesOf(schema: unknown, depth = 0): readonly string[] | undefined {
  if (!isJsonObject(schema) || depth > maxDepth) return undefined;
  const named = own(schema, "enum");
  if (Array.isArray(named)) return toTexts(named);
  if (Object.hasOwn(schema, "const")) return toTexts([schema["const"]]);
  if (own(schema, "type") === "boolean") return ["true", "false"];
  const alternatives = own(schema, "anyOf") ?? own(schema, "oneOf");
  if (!Array.isArray(alternatives)) return undefined;
  const values = alternatives.map((each) => valuesOf(each, depth + 1));
  return values.every((each) => each !== undefined) ? values.flat() : undefined;
}
