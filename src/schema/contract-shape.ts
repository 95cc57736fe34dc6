import { canonicalText, isJsonObject, setOwn } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { clipText } from "./visible-text.ts";
import { compareShapes, isWeighable } from "./compare-shapes.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { SchemaSide } from "./standard.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";

import { wireKey } from "./wire-forms.ts";

/** At the root of a shape: the value may be left out. */
const optionalKey = "x-optional";

const unorderedKeywords: ReadonlySet<string> = new Set(["type", "enum", "required"]);

/**
 * What two ends of a link have to agree on about a schema: the normalised schema of the value by itself, without
 * anything that could change while the values stay the same. Recursion is a `$ref` by JSON Pointer, and
 * `"x-optional": true` at the root says that the value may be left out. Frozen, and made anew each time.
 */
export function toContractShape(compiled: CompiledSchema): JsonSchema {
  const shape = copyNode(compiled.reader());
  return Object.freeze(compiled.optional ? { ...shape, [optionalKey]: true } : shape);
}

/** The one text of a shape, whatever the order of its keys: what is hashed. */
export function contractText(shape: JsonSchema): string {
  return canonicalText(shape);
}

/** The beginning of that text, for people; of a shape that is too large to be compared, that it is. */
export function shownShape(shape: JsonSchema, maxBytes: number): string {
  return isWeighable(shape) ? clipText(contractText(shape), maxBytes) : "too large to be compared";
}

/**
 * Tells whether every value of the producer's shape can be used as one of the consumer's. Fields that only the producer
 * has are no matter, nor are optional ones that only the consumer has. What cannot be told for certain is not
 * compatible. Never throws, whatever a peer says its shape is.
 *
 * @returns true, or where the two first differ: dotted, and empty at the root. Compare it with `true`.
 */
export function isCompatible(pair: {
  readonly producer: JsonSchema;
  readonly consumer: JsonSchema;
  /** The side that the values are of, default `"output"`. A closed input refuses the fields that an output drops. */
  readonly side?: SchemaSide;
}): true | string {
  const { producer, consumer, side = "output" } = pair;
  if (producer[optionalKey] === true && consumer[optionalKey] !== true) return "";
  return compareShapes({ producer, consumer, side }) ?? true;
}

function copyNode(node: JsonSchema): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(node)) {
    // A library's pattern for a format is its own affair, and differs from one patch of it to the next.
    if (key === wireKey || (key === "pattern" && node["format"] !== undefined)) continue;
    // A schema of one constant has two spellings.
    if (key === "const") copy["enum"] = [value];
    else copy[key] = copyValue(key, value);
  }
  return copy;
}

function copyValue(key: string, value: JsonValue): JsonValue {
  if (schemaKeywords.has(key)) return copySchema(value);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map(copySchema);
  if (unorderedKeywords.has(key) && Array.isArray(value)) return value.toSorted(byText);
  if (!mapKeywords.has(key) || !isJsonObject(value)) return value;
  const copy: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(value)) setOwn(copy, name, copySchema(schema ?? true));
  return copy;
}

function copySchema(value: JsonValue): JsonValue {
  return isJsonObject(value) ? copyNode(value) : value;
}

function byText(first: JsonValue, second: JsonValue): number {
  return canonicalText(first) < canonicalText(second) ? -1 : 1;
}
