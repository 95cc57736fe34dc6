import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";

/** The value of a URI variable. */
export type Scalar = string | number | boolean;

/** A field of a flat object whose fields are all scalars. */
export interface ScalarField {
  readonly name: string;
  readonly json: JsonSchema;
  readonly required: boolean;
}

// JSON's own number grammar: no hex, no "Infinity", no blanks, no leading zero that a key may mean as text.
const numberRegExp = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const unionKeywords = ["anyOf", "oneOf"] as const;

/**
 * Reads the text of a URI variable as the scalar that a JSON Schema asks for. Numbers take JSON's decimal form only,
 * booleans `true` and `false`; where several types fit, number comes before boolean before string. A schema without
 * a type takes the text as it is.
 *
 * @param json - an emitted schema: self-contained, without `$ref`.
 * @returns undefined when the text does not fit. Bounds and patterns are left to validation.
 */
export function coerceScalar(text: string, json: JsonSchema): Scalar | undefined {
  return readings(text).find((reading) => fits(reading, json));
}

/**
 * Lists the fields of a flat object in declared order.
 *
 * @returns undefined when the schema is no object with fixed fields, or when a field is not a scalar.
 */
export function scalarFields(json: JsonSchema): readonly ScalarField[] | undefined {
  const properties = json["properties"];
  if (json["type"] !== "object" || !isJsonObject(properties)) return undefined;
  if (unionKeywords.some((key) => json[key] !== undefined) || json["allOf"] !== undefined) return undefined;
  const required: JsonValue = json["required"] ?? [];
  const names: readonly JsonValue[] = Array.isArray(required) ? required : [];
  const fields: ScalarField[] = [];
  for (const [name, field] of Object.entries(properties)) {
    if (!isJsonObject(field) || !isScalar(field)) return undefined;
    fields.push({ name, json: field, required: names.includes(name) });
  }
  return fields;
}

function readings(text: string): Scalar[] {
  const number = numberRegExp.test(text) ? Number(text) : Number.NaN;
  const found: Scalar[] = Number.isFinite(number) ? [number] : [];
  if (text === "true" || text === "false") found.push(text === "true");
  return [...found, text];
}

function fits(value: Scalar, json: JsonSchema): boolean {
  if (json["const"] !== undefined) return json["const"] === value;
  if (Array.isArray(json["enum"])) return json["enum"].includes(value);
  for (const keyword of unionKeywords) {
    const arms = json[keyword];
    if (Array.isArray(arms)) return arms.some((arm) => isJsonObject(arm) && fits(value, arm));
  }
  const types = typesOf(json);
  return types.length === 0 ? typeof value === "string" : types.some((type) => isOfType(value, type));
}

function isOfType(value: Scalar, type: JsonValue): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === typeof value;
}

function isScalar(json: JsonObject): boolean {
  const scalar = (type: JsonValue): boolean => type !== "object" && type !== "array";
  for (const keyword of unionKeywords) {
    const arms = json[keyword];
    if (Array.isArray(arms)) return arms.every((arm) => isJsonObject(arm) && isScalar(arm));
  }
  const types = typesOf(json);
  if (types.length > 0) return types.every(scalar);
  const values: JsonValue[] = Array.isArray(json["enum"]) ? [...json["enum"]] : [json["const"] ?? []];
  return values.every((value) => typeof value !== "object" || value === null);
}

function typesOf(json: JsonSchema): readonly JsonValue[] {
  const type = json["type"];
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}
