import { canonicalText, isJsonObject, jsonTypeOf } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { isAnnotation } from "./keywords.ts";

/** Keywords that are compared here by their meaning, or by {@link compareShapes} part by part. */
const comparedKeywords: ReadonlySet<string> = new Set([
  ...["$ref", "anyOf", "allOf", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
  ...["properties", "required", "additionalProperties", "propertyNames", "prefixItems", "items"],
]);
/** Keywords of a closed object that hold without the fields that it does not declare, given that they held with them. */
const partwiseKeywords: ReadonlySet<string> = new Set([
  ...["type", "properties", "required", "additionalProperties", "propertyNames", "maxProperties"],
]);
/** Each bound of a consumer, and the bounds of a producer of which one has to lie within it. */
const lowerBounds: Readonly<Record<string, readonly string[]>> = {
  minimum: ["minimum", "exclusiveMinimum"],
  exclusiveMinimum: ["exclusiveMinimum"],
  minLength: ["minLength"],
  minItems: ["minItems"],
  minProperties: ["minProperties"],
};
const upperBounds: Readonly<Record<string, readonly string[]>> = {
  maximum: ["maximum", "exclusiveMaximum"],
  exclusiveMaximum: ["exclusiveMaximum"],
  maxLength: ["maxLength"],
  maxItems: ["maxItems"],
  maxProperties: ["maxProperties"],
};

/**
 * Tells whether a producer's own keywords promise what those of a consumer require: types, values and bounds. Any other keyword has
 * to be the same on both sides. Fields, items and alternatives are not looked at.
 */
export function fitsKeywords(producer: JsonObject, consumer: JsonObject): boolean {
  return (
    fitsTypes(producer, consumer) &&
    fitsValues(producer, consumer) &&
    fitsBounds(producer, consumer) &&
    fitsOthers(producer, consumer)
  );
}

/** Returns a field that a consumer requires and a producer may leave out. */
export function missingField(producer: JsonObject, consumer: JsonObject): string | undefined {
  const required = new Set(textsOf(producer["required"]));
  return textsOf(consumer["required"]).find((key) => !required.has(key));
}

function fitsTypes(producer: JsonObject, { type }: JsonObject): boolean {
  if (type === undefined) return true;
  const allowed = Array.isArray(type) ? type : [type];
  return typesOf(producer).every(
    (name) => allowed.includes(name) || (name === "integer" && allowed.includes("number")),
  );
}

/** Returns the types that a node allows, by its type or else its values; "any" when it says neither. */
function typesOf(node: JsonObject): readonly JsonValue[] {
  const { type } = node;
  if (type !== undefined) return Array.isArray(type) ? type : [type];
  return valuesOf(node)?.map(jsonTypeOf) ?? ["any"];
}

function fitsValues(producer: JsonObject, consumer: JsonObject): boolean {
  const allowed = valuesOf(consumer);
  if (allowed === undefined) return true;
  const texts = new Set(allowed.map(canonicalText));
  return valuesOf(producer)?.every((value) => texts.has(canonicalText(value))) ?? false;
}

function valuesOf(node: JsonObject): readonly JsonValue[] | undefined {
  if (node["const"] !== undefined) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

function fitsBounds(producer: JsonObject, consumer: JsonObject): boolean {
  const isWithin = (bounds: typeof lowerBounds, fits: (given: number, asked: number) => boolean): boolean => {
    return Object.entries(bounds).every(([key, keys]) => {
      const asked = consumer[key];
      if (asked === undefined) return true;
      return keys
        .map((name) => producer[name])
        .some((given) => typeof given === "number" && fits(given, Number(asked)));
    });
  };
  return (
    isWithin(lowerBounds, (given, asked) => given >= asked) && isWithin(upperBounds, (given, asked) => given <= asked)
  );
}

/** Any other keyword has to be the same on both sides. */
function fitsOthers(producer: JsonObject, consumer: JsonObject): boolean {
  return Object.entries(consumer).every(([key, asked]) => {
    if (comparedKeywords.has(key) || isAnnotation(key)) return true;
    // Both depend on keywords beside them.
    if (key.startsWith("unevaluated")) return isSameText(producer, consumer);
    if (key === "contains" && producer["minContains"] !== consumer["minContains"]) return false;
    return isSameText(producer[key], asked);
  });
}

/**
 * Tells whether a value of the producer still fits after a closed consumer has dropped the fields that it does not declare. Any
 * keyword about the object as a whole is a doubt, unless the producer has no such fields.
 */
export function fitsDropped(producer: JsonObject, consumer: JsonObject): boolean {
  if (consumer["additionalProperties"] !== false) return true;
  const declared = new Set(Object.keys(declaredFields(consumer)));
  const dropsNothing =
    producer["additionalProperties"] === false &&
    Object.keys(declaredFields(producer)).every((key) => declared.has(key));
  if (dropsNothing) return true;
  const isKept = textsOf(consumer["required"]).every((key) => declared.has(key));
  return isKept && Object.keys(consumer).every((key) => partwiseKeywords.has(key) || isAnnotation(key));
}

/** Returns the declared fields of an object. */
export function declaredFields(node: JsonObject): JsonObject {
  return isJsonObject(node["properties"]) ? node["properties"] : {};
}

/** Tells whether the fields of a producer with `patternProperties` fit. Which names a pattern matches is not tried. */
export function fitsPatterns(producer: JsonObject, consumer: JsonObject): boolean {
  const keys = ["properties", "patternProperties", "additionalProperties", "propertyNames"];
  const isOpen = keys.every((key) => consumer[key] === undefined);
  return isOpen || keys.every((key) => producer[key] === consumer[key] || isSameText(producer[key], consumer[key]));
}

/** A reference means another node in another document. */
function isSameText(given: JsonValue | undefined, asked: JsonValue | undefined): boolean {
  if (given === undefined || asked === undefined) return false;
  const text = canonicalText(given);
  return text === canonicalText(asked) && !text.includes('"$ref"');
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
