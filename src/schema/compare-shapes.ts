import { canonicalText, isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import type { SchemaSide } from "./standard.ts";
import { clipText } from "./visible-text.ts";
import { declaredFields, fitsDropped, fitsKeywords, fitsPatterns, missingField } from "./fits-keywords.ts";
import { isAnnotation } from "./keywords.ts";
import { optionalKey } from "./reader-schema.ts";
import { SchemaDocument } from "./schema-document.ts";

/** A place in both shapes. */
interface Place {
  /** Dotted, and empty at the root. */
  readonly path: string;
  /** Whether a closed consumer drops further fields. It refuses them where other constraints stand beside it, and in an input. */
  readonly drops: boolean;
  /** Whether other constraints stand beside the producer, which may describe further fields. */
  readonly isPart: boolean;
}

/** Two nodes, and their place. */
interface NodePair {
  readonly producer: JsonObject;
  readonly consumer: JsonObject;
  readonly at: Place;
}

// Schemas are at most 64 levels deep, and a pair of recursive ones meets again after a few rounds.
const maxDepth = 256;
// Values, names and keywords. Real pairs take a few thousand.
const maxSteps = 1_000_000;
const maxWeight = 100_000;
// Characters that cost as much as a value.
const charactersPerUnit = 16;
const maxRefs = 32;
const anything: JsonObject = {};
const nothing: JsonObject = { not: {} };

const partKeywords: ReadonlySet<string> = new Set([
  ...["properties", "additionalProperties", "propertyNames", "prefixItems", "items", "anyOf", "allOf"],
]);

/**
 * Tells whether a consumer accepts every value of a producer. Fields that only the producer has, and optional ones that only the
 * consumer has, are allowed. Compares types, fields, items, values, bounds and alternatives; any other keyword has to be the same
 * on both sides. Both shapes may come from a peer: never throws, runs no pattern, and ends.
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
    if (producer[optionalKey] === true && consumer[optionalKey] !== true) return "";
    if (!isWeighable(producer) || !isWeighable(consumer)) return "";
    if (canonicalText(producer) === canonicalText(consumer)) return true;
    const comparison = new Comparison(producer, consumer, side);
    return comparison.compare(producer, consumer, comparison.place("")) ?? true;
  } catch {
    // A reference that leads nowhere, or a keyword of another type than it should be.
    return "";
  }
}

/** Returns the beginning of the canonical text of a shape, for an error. */
export function shownShape(shape: JsonSchema, maxBytes: number): string {
  return isWeighable(shape) ? clipText(canonicalText(shape), maxBytes) : "too large to be compared";
}

function isWeighable(shape: JsonObject): boolean {
  return weigh(shape) <= maxWeight;
}

class Comparison {
  readonly #producer: SchemaDocument;
  readonly #consumer: SchemaDocument;
  readonly #side: SchemaSide;
  /** The pairs around the one that is compared. */
  readonly #pairs: NodePair[] = [];
  #steps = 0;

  constructor(producer: JsonSchema, consumer: JsonSchema, side: SchemaSide) {
    this.#producer = new SchemaDocument(producer);
    this.#consumer = new SchemaDocument(consumer);
    this.#side = side;
  }

  /** Returns the place of a value by itself. */
  place(path: string): Place {
    return { path, drops: this.#side === "output", isPart: false };
  }

  /** @param given - a producer's part, @param asked - a consumer's. An undefined part accepts anything. */
  compare(given: JsonValue | undefined, asked: JsonValue | undefined, at: Place): string | undefined {
    const { path } = at;
    // A reference that goes round may give anything, and takes nothing.
    const producer = resolve(this.#producer, toNode(given)) ?? anything;
    const consumer = resolve(this.#consumer, toNode(asked)) ?? nothing;
    if (isEmpty(consumer) || isNever(producer)) return undefined;
    const around = this.#pairs.find((pair) => pair.producer === producer && pair.consumer === consumer);
    // A pair fits within itself, unless it went round without looking at a part.
    if (around !== undefined) return around.at.path === path ? path : undefined;
    this.#steps += costOf(producer) + costOf(consumer);
    if (isNever(consumer) || this.#steps > maxSteps || this.#pairs.length > maxDepth) return path;
    // No outcome is kept: one that relied on a pair around it may be wrong elsewhere.
    this.#pairs.push({ producer, consumer, at });
    const found = this.#compareNodes({ producer, consumer, at });
    this.#pairs.pop();
    return found;
  }

  #fits(given: JsonValue, asked: JsonValue, at: Place): boolean {
    return this.compare(given, asked, at) === undefined;
  }

  #compareNodes({ producer, consumer, at }: NodePair): string | undefined {
    const [arms, parts] = [listOf(producer["anyOf"]), listOf(producer["allOf"])];
    const ofProducer = (key: string): Place => ({ ...at, isPart: at.isPart || !isAlone(producer, key) });
    const ofConsumer = (key: string): Place => ({ ...at, drops: at.drops && isAlone(consumer, key) });
    if (arms.length > 0 && arms.every((arm) => this.#fits(arm, consumer, ofProducer("anyOf")))) return undefined;
    if (parts.some((part) => this.#fits(part, consumer, ofProducer("allOf")))) return undefined;
    for (const part of listOf(consumer["allOf"])) {
      const found = this.compare(producer, part, ofConsumer("allOf"));
      if (found !== undefined) return found;
    }
    const { anyOf } = consumer;
    if (anyOf !== undefined && !listOf(anyOf).some((arm) => this.#fits(producer, arm, ofConsumer("anyOf")))) {
      return at.path;
    }
    return this.#compareOwn({ producer, consumer, at });
  }

  #compareOwn(pair: NodePair): string | undefined {
    const { producer, consumer, at } = pair;
    if (!fitsKeywords(producer, consumer)) return at.path;
    if (at.drops && !fitsDropped(producer, consumer)) return at.path;
    const missing = missingField(producer, consumer);
    if (missing !== undefined) return below(at.path, missing);
    return this.#compareFields(pair) ?? this.#compareItems(pair);
  }

  #compareFields({ producer, consumer, at }: NodePair): string | undefined {
    // Which names a pattern matches is not tried.
    if (producer["patternProperties"] !== undefined) return fitsPatterns(producer, consumer) ? undefined : at.path;
    const [given, asked] = [declaredFields(producer), declaredFields(consumer)];
    for (const key of new Set([...Object.keys(asked), ...Object.keys(given)])) {
      const found = this.#compareField(key, { producer, consumer, at });
      if (found !== undefined) return found;
    }
    return this.#compareRest({ producer, consumer, at }) ?? this.#compareNames({ producer, consumer, at });
  }

  #compareRest({ producer, consumer, at }: NodePair): string | undefined {
    const [given, asked] = [producer["additionalProperties"], consumer["additionalProperties"]];
    if (isDropped(consumer, at) || (given === undefined && asked === false)) return undefined;
    return this.#compareAt("*", [given, asked], at);
  }

  #compareNames({ producer, consumer, at }: NodePair): string | undefined {
    const { propertyNames } = consumer;
    if (propertyNames === undefined) return undefined;
    return this.compare(producer["propertyNames"] ?? { type: "string" }, propertyNames, this.place(at.path));
  }

  #compareField(key: string, { producer, consumer, at }: NodePair): string | undefined {
    const [given, asked] = [declaredFields(producer), declaredFields(consumer)];
    if (!Object.hasOwn(asked, key)) {
      return isDropped(consumer, at)
        ? undefined
        : this.#compareAt(key, [given[key], consumer["additionalProperties"]], at);
    }
    if (Object.hasOwn(given, key)) return this.#compareAt(key, [given[key], asked[key]], at);
    const { additionalProperties: rest } = producer;
    // Most libraries leave an object open that they strip: a field that no part of the producer declares never comes.
    const isWhole = !at.isPart && producer["anyOf"] === undefined && producer["allOf"] === undefined;
    if (rest === false || (rest === undefined && isWhole)) return undefined;
    return this.#compareAt(key, [rest, asked[key]], at);
  }

  #compareAt(
    key: string,
    [given, asked]: readonly [JsonValue | undefined, JsonValue | undefined],
    at: Place,
  ): string | undefined {
    return this.compare(given, asked, this.place(below(at.path, key)));
  }

  #compareItems({ producer, consumer, at }: NodePair): string | undefined {
    const [given, asked] = [listOf(producer["prefixItems"]), listOf(consumer["prefixItems"])];
    const most = typeof producer["maxItems"] === "number" ? producer["maxItems"] : Number.POSITIVE_INFINITY;
    const length = Math.max(given.length, asked.length);
    for (let index = 0; index < Math.min(length, most); index += 1) {
      const [from, to] = [given[index] ?? producer["items"], asked[index] ?? consumer["items"]];
      const found = this.#compareAt(String(index), [from, to], at);
      if (found !== undefined) return found;
    }
    return most <= length ? undefined : this.#compareAt("*", [producer["items"], consumer["items"]], at);
  }
}

/** Tells whether a reader drops the fields that it does not declare. */
function isDropped(consumer: JsonObject, { drops }: Place): boolean {
  return drops && consumer["additionalProperties"] === false;
}

/** Tells whether a keyword is the only constraint of a node, and of an `allOf` the only part. */
function isAlone(node: JsonObject, keyword: string): boolean {
  const others = Object.keys(node).filter((key) => key !== keyword && !isAnnotation(key));
  return others.length === 0 && (keyword !== "allOf" || listOf(node["allOf"]).length === 1);
}

function resolve(document: SchemaDocument, node: JsonObject): JsonObject | undefined {
  let found = node;
  for (let count = 0; count < maxRefs; count++) {
    const { $ref } = found;
    if (typeof $ref !== "string") return found;
    // What stands beside a reference counts too, and in a shape nothing does.
    if (Object.keys(found).length > 1) return undefined;
    // A shape is JSON, and so is what it points at.
    found = toNode(document.resolve($ref, document.root as JsonObject).node as JsonValue);
  }
  return undefined;
}

/** Returns the cost of comparing one node: its parts by their number, everything else by its weight. */
function costOf(node: JsonObject): number {
  let cost = 1;
  for (const key in node) {
    const part = node[key];
    if (!partKeywords.has(key) || typeof part !== "object" || part === null) cost += weigh(part);
    else cost += Array.isArray(part) ? part.length : Object.keys(part).length;
  }
  return cost;
}

/** Counts the values, names and characters of a value, no further than what is too much. */
function weigh(value: JsonValue | undefined): number {
  const queue: (JsonValue | undefined)[] = [value];
  let weight = 0;
  while (queue.length > 0 && weight <= maxWeight) {
    const next = queue.pop();
    weight += typeof next === "string" ? 1 + next.length / charactersPerUnit : 1;
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next) && next.length > maxWeight) return next.length;
    for (const [key, part] of Object.entries(next)) {
      weight += Array.isArray(next) ? 0 : key.length / charactersPerUnit;
      queue.push(part);
    }
  }
  return weight;
}

function toNode(part: JsonValue | undefined): JsonObject {
  if (isJsonObject(part)) return part;
  return part === false ? nothing : anything;
}

function isEmpty(node: JsonObject): boolean {
  return Object.keys(node).every(isAnnotation);
}

function isNever(node: JsonObject): boolean {
  const { not } = node;
  return not === true || (isJsonObject(not) && isEmpty(not));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
