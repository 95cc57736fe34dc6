import { canonicalText, isJsonObject, jsonTypeOf, toList } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { isAnnotation, isAnyName, typesOf } from "./keywords.ts";
import { optionalKey, toPointer } from "./reader-schema.ts";
import type { SchemaSide } from "./standard.ts";
import { clipText } from "./visible-text.ts";

/** Two nodes at the same pointer of both shapes. */
interface NodePair {
  readonly producer: JsonObject;
  readonly consumer: JsonObject;
  /** The names of the fields on the way: dotted, and empty at the root. */
  readonly place: string;
  readonly pointer: string;
  /** The pointers of the pairs around this one. */
  readonly around: readonly string[];
  /** Whether a closed consumer drops fields that it does not declare. In an input it refuses them. */
  readonly isDropping: boolean;
}

// Characters of JSON.
const maxShapeLength = 1_048_576;
// Schemas are at most 64 levels deep.
const maxDepth = 256;
const anything: JsonObject = {};
const nothing: JsonObject = { not: {} };

/** A bound of a consumer, and the bounds of a producer of which one must lie within it. */
type Bound = readonly [string, ...string[]];

const lowerBounds: readonly Bound[] = [
  ["minimum", "minimum", "exclusiveMinimum"],
  ["exclusiveMinimum", "exclusiveMinimum"],
  ["minLength", "minLength"],
  ["minItems", "minItems"],
];
const upperBounds: readonly Bound[] = [
  ["maximum", "maximum", "exclusiveMaximum"],
  ["exclusiveMaximum", "exclusiveMaximum"],
  ["maxLength", "maxLength"],
  ["maxItems", "maxItems"],
];
const objectKeywords: ReadonlySet<string> = new Set(["type", "required", "properties", "additionalProperties"]);
const comparedKeywords: ReadonlySet<string> = new Set([
  ...objectKeywords,
  ...["enum", "items"],
  ...[...lowerBounds, ...upperBounds].map(([keyword]) => keyword),
]);

/**
 * Tells whether a consumer accepts every value of a producer. A producer may have further fields, and a consumer further optional
 * ones. Compares types, null, fields, items, values and bounds. A node of a consumer with any other keyword fits the same node only.
 * Both shapes may come from a peer: never throws, runs no pattern, and takes time that grows with their size.
 *
 * @returns true, or the first place that differs: dotted, and empty at the root. Compare it with `true`.
 */
export function isCompatible(pair: {
  readonly producer: JsonSchema;
  readonly consumer: JsonSchema;
  /** The side of the values. A closed input refuses the fields that an output drops. @default "output" */
  readonly side?: SchemaSide;
}): true | string {
  const { producer, consumer, side = "output" } = pair;
  try {
    if (isTooLarge(producer) || isTooLarge(consumer)) return "";
    if (producer[optionalKey] === true && consumer[optionalKey] !== true) return "";
    if (rootText(producer) === rootText(consumer)) return true;
    const root = { place: "", pointer: "#", around: [], isDropping: side === "output" };
    return findDifference({ producer, consumer, ...root }) ?? true;
  } catch {
    // A shape that is nested too deep.
    return "";
  }
}

/** Returns the beginning of the canonical text of a shape, for an error. */
export function describeShape(shape: JsonSchema, maxBytes: number): string {
  return isTooLarge(shape) ? "too large to be compared" : clipText(canonicalText(shape), maxBytes);
}

function isTooLarge(shape: JsonSchema): boolean {
  return JSON.stringify(shape).length > maxShapeLength;
}

function findDifference(pair: NodePair): string | undefined {
  const { producer, consumer } = pair;
  if (acceptsAnything(consumer) || producer === nothing || isSameRecursion(pair)) return undefined;
  const allowed = withoutNull(consumer);
  if (allowed === undefined) return findInNode(pair);
  return isNull(producer) ? undefined : findDifference(nonNullPair(pair, allowed));
}

function findInNode(pair: NodePair): string | undefined {
  const { producer, consumer, place, around } = pair;
  if (!isCompared(pair)) return isSameNode(pair) ? undefined : place;
  const fits = [fitsTypes, fitsValues, fitsBounds].every((each) => each(producer, consumer));
  if (!fits || around.length >= maxDepth) return place;
  return findInFields(pair) ?? findInRest(pair, "items", [producer["items"], consumer["items"]]);
}

/** The schema of all values but null of a node that allows null, and the steps from the node to it. */
interface NonNull {
  readonly node: JsonObject;
  readonly steps: readonly string[];
}

/** Reads `{ type: [T, "null"] }` and `{ anyOf: [T, { type: "null" }] }`; `undefined` for another node. */
function withoutNull(node: JsonObject): NonNull | undefined {
  const types = typesOf(node) ?? [];
  if (types.length > 1 && types.includes("null")) {
    return { node: { ...node, type: types.filter((type) => type !== "null") }, steps: [] };
  }
  const arms = constraintsOf(node).join() === "anyOf" ? toList(node["anyOf"]) : [];
  const index = arms.findIndex((arm) => !isNull(arm));
  if (arms.length !== 2 || index === -1 || !isNull(arms[1 - index])) return undefined;
  return { node: toNode(arms[index]), steps: ["anyOf", String(index)] };
}

function isNull(node: JsonValue | undefined): boolean {
  return isJsonObject(node) && node["type"] === "null" && constraintsOf(node).length === 1;
}

/** Returns the pair of the values that are not null, of a consumer that allows null. */
function nonNullPair(pair: NodePair, consumer: NonNull): NodePair {
  const producer = withoutNull(pair.producer) ?? { node: pair.producer, steps: [] };
  const isAtSamePointer = producer.steps.join() === consumer.steps.join();
  return {
    ...pair,
    producer: producer.node,
    consumer: consumer.node,
    // No reference leads to a pair whose nodes have different pointers.
    pointer: isAtSamePointer ? pair.pointer + toPointer(consumer.steps).slice(1) : "",
    around: [...pair.around, pair.pointer],
  };
}

/** Tells whether the meaning of a consumer's keywords is compared. Field names are not matched by patterns, nor items by position. */
function isCompared({ producer, consumer, isDropping }: NodePair): boolean {
  const isMatching = producer["patternProperties"] !== undefined || producer["prefixItems"] !== undefined;
  // Once fields are dropped, a value may no longer be one that the whole node allows.
  const drops = isDropping && consumer["additionalProperties"] === false;
  const known = drops ? objectKeywords : comparedKeywords;
  return !isMatching && constraintsOf(consumer).every((keyword) => known.has(keyword));
}

/** Tells whether both nodes refer to one pair around them, and so fit if that pair does. */
function isSameRecursion({ producer, consumer, around }: NodePair): boolean {
  const { $ref } = consumer;
  if (typeof $ref !== "string" || !around.includes($ref)) return false;
  return [producer, consumer].every((node) => constraintText(node) === canonicalText({ $ref }));
}

/** Tells whether both nodes have the same constraints. A reference may mean another node in the other shape. */
function isSameNode({ producer, consumer }: NodePair): boolean {
  const text = constraintText(producer);
  return text === constraintText(consumer) && !text.includes('"$ref"');
}

/** Returns a required field that a producer may leave out, or a closed consumer refuses or drops. */
function findUnmet({ producer, consumer }: NodePair): string | undefined {
  const [sent, declared] = [new Set(requiredOf(producer)), fieldsOf(consumer)];
  const isClosed = consumer["additionalProperties"] === false;
  return requiredOf(consumer).find((name) => !sent.has(name) || (isClosed && !declared.has(name)));
}

function findInFields(pair: NodePair): string | undefined {
  const { producer, consumer, isDropping } = pair;
  const unmet = findUnmet(pair);
  if (unmet !== undefined) return placeOf(pair, unmet);
  const { additionalProperties: given } = producer;
  const { additionalProperties: asked } = consumer;
  const isClosed = asked === false;
  const rest = isClosed && isDropping ? true : asked;
  const sent = isClosed && !sendsUndeclared(producer) ? false : given;
  return findInDeclared(pair, rest) ?? findInRest(pair, "additionalProperties", [sent, rest]);
}

/** @param rest - the schema by which a consumer accepts fields that it does not declare. */
function findInDeclared(pair: NodePair, rest: JsonValue | undefined): string | undefined {
  const [given, asked] = [fieldsOf(pair.producer), fieldsOf(pair.consumer)];
  const sendsOthers = sendsUndeclared(pair.producer);
  for (const name of new Set([...asked.keys(), ...given.keys()])) {
    const [from, to] = [given.get(name), asked.get(name)];
    if (from !== undefined && to !== undefined) {
      const found = findDifference(partPair(pair, { name, keywords: ["properties", name], parts: [from, to] }));
      if (found !== undefined) return found;
    } else if ((from !== undefined || sendsOthers) && !acceptsAnything(to ?? rest)) {
      return placeOf(pair, name);
    }
  }
  return undefined;
}

/**
 * Tells whether a producer may send a field that it does not declare. An open object does not: most libraries strip it. Unless
 * another keyword may declare further fields.
 */
function sendsUndeclared(producer: JsonObject): boolean {
  const { additionalProperties: rest = false } = producer;
  const declared = fieldsOf(producer);
  return (
    typesOf(producer)?.join() !== "object" ||
    rest !== false ||
    constraintsOf(producer).some((keyword) => !comparedKeywords.has(keyword)) ||
    requiredOf(producer).some((name) => !declared.has(name))
  );
}

/** Compares the schemas of all items, or of all fields without a name. */
function findInRest(pair: NodePair, keyword: string, parts: Part["parts"]): string | undefined {
  return findDifference(partPair(pair, { name: "*", keywords: [keyword], parts }));
}

/** A part of both nodes of a pair. */
interface Part {
  readonly name: string;
  /** The steps from the pair to the part. */
  readonly keywords: readonly string[];
  readonly parts: readonly [JsonValue | undefined, JsonValue | undefined];
}

function partPair(pair: NodePair, { name, keywords, parts: [producer, consumer] }: Part): NodePair {
  return {
    ...pair,
    producer: toNode(producer),
    consumer: toNode(consumer),
    place: placeOf(pair, name),
    pointer: pair.pointer + toPointer(keywords).slice(1),
    around: [...pair.around, pair.pointer],
  };
}

function placeOf({ place }: NodePair, name: string): string {
  return place === "" ? name : `${place}.${name}`;
}

function fitsTypes(producer: JsonObject, consumer: JsonObject): boolean {
  const types = typesOf(consumer);
  if (types === undefined) return true;
  const allowed = new Set(types.includes("number") ? [...types, "integer"] : types);
  const { enum: values } = producer;
  const given = typesOf(producer) ?? (Array.isArray(values) ? values.map(jsonTypeOf) : ["any"]);
  return given.every((type) => allowed.has(type));
}

function fitsValues({ enum: given }: JsonObject, { enum: allowed }: JsonObject): boolean {
  if (allowed === undefined) return true;
  const texts = new Set(toList(allowed).map(canonicalText));
  return Array.isArray(given) && given.every((value) => texts.has(canonicalText(value)));
}

function fitsBounds(producer: JsonObject, consumer: JsonObject): boolean {
  const fits = ([key, ...names]: Bound, isWithin: (given: number, asked: number) => boolean): boolean => {
    const asked = consumer[key];
    if (asked === undefined) return true;
    const given = names.map((name) => producer[name]).filter((value) => typeof value === "number");
    return given.some((value) => isWithin(value, Number(asked)));
  };
  return (
    lowerBounds.every((bound) => fits(bound, (given, asked) => given >= asked)) &&
    upperBounds.every((bound) => fits(bound, (given, asked) => given <= asked))
  );
}

/** Returns the keywords of a node that may refuse a value. */
function constraintsOf(node: JsonObject): readonly string[] {
  return Object.keys(node).filter((key) => !isAnnotation(key) && !isAnyName(key, node[key]));
}

function acceptsAnything(part: JsonValue | undefined): boolean {
  return constraintsOf(toNode(part)).length === 0;
}

/** Returns the canonical text of a node without its annotations. */
function constraintText(node: JsonObject): string {
  return canonicalText(Object.fromEntries(Object.entries(node).filter(([key]) => !isAnnotation(key))));
}

/** Returns the text of a shape without its words. References may lead into annotations that are objects, so these count. */
function rootText(shape: JsonObject): string {
  const isWord = ([key, value]: [string, JsonValue]): boolean => isAnnotation(key) && !isJsonObject(value);
  return canonicalText(Object.fromEntries(Object.entries(shape).filter((entry) => !isWord(entry))));
}

function toNode(part: JsonValue | undefined): JsonObject {
  if (isJsonObject(part)) return part;
  return part === false ? nothing : anything;
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return toList(required).filter((name) => typeof name === "string");
}

function fieldsOf({ properties }: JsonObject): ReadonlyMap<string, JsonValue> {
  return new Map(Object.entries(isJsonObject(properties) ? properties : {}));
}
