import { isJsonObject, isOfType, toList } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { typesOf, valuesOf } from "./keywords.ts";

/** The value of a URI variable. */
type Scalar = string | number | boolean;

/** A field of a flat object whose fields are all scalars. */
export interface ScalarField {
  readonly name: string;
  readonly json: JsonSchema;
  readonly required: boolean;
}

// The grammar of JSON: no hex, no "Infinity", no blanks, and no leading zero, which is part of a textual key.
const numberRegExp = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const unionKeywords = ["anyOf", "oneOf"] as const;

/**
 * Reads the text of a URI variable as a scalar of the type that a JSON Schema has. Accepts numbers in JSON's decimal form only, and
 * the booleans `true` and `false`. If several types fit, number comes before boolean before string. Without a type the text stays.
 *
 * @param json - an emitted schema: self-contained, without `$ref`.
 * @returns undefined when the text does not fit. Ignores bounds and patterns, which validation checks.
 */
export function coerceScalar(text: string, json: JsonSchema): Scalar | undefined {
  const number = numberRegExp.test(text) ? Number(text) : Number.NaN;
  const candidates: Scalar[] = Number.isFinite(number) ? [number] : [];
  if (text === "true" || text === "false") candidates.push(text === "true");
  return [...candidates, text].find((candidate) => fits(candidate, json));
}

/** Lists the fields of a flat object in declared order; undefined for a schema that has other fields than scalars. */
export function scalarFields(json: JsonSchema): readonly ScalarField[] | undefined {
  const properties = json["properties"];
  if (json["type"] !== "object" || !isJsonObject(properties)) return undefined;
  if (unionKeywords.some((key) => json[key] !== undefined) || json["allOf"] !== undefined) return undefined;
  const names = toList(json["required"]);
  const fields: ScalarField[] = [];
  for (const [name, field] of Object.entries(properties)) {
    if (!isJsonObject(field) || !isScalar(field)) return undefined;
    fields.push({ name, json: field, required: names.includes(name) });
  }
  return fields;
}

/** Returns the arms of the union that a node is, if it is one. */
function armsOf(json: JsonSchema): readonly JsonValue[] | undefined {
  return unionKeywords.map((keyword) => json[keyword]).find((arms) => Array.isArray(arms));
}

function fits(value: Scalar, json: JsonSchema): boolean {
  const values = valuesOf(json);
  if (values !== undefined) return values.includes(value);
  const arms = armsOf(json);
  if (arms !== undefined) return arms.some((arm) => isJsonObject(arm) && fits(value, arm));
  return (typesOf(json) ?? ["string"]).some((type) => isOfType(value, type));
}

function isScalar(json: JsonObject): boolean {
  const arms = armsOf(json);
  if (arms !== undefined) return arms.every((arm) => isJsonObject(arm) && isScalar(arm));
  const types = typesOf(json);
  if (types !== undefined) return types.every((type) => type !== "object" && type !== "array");
  return valuesOf(json)?.every((value) => typeof value !== "object" || value === null) ?? false;
}
