import { boundKeywords, fitsBounds, mayBe, typesOf, valuesOf } from "./compare-bounds.ts";
import { canonicalText } from "./canonical-text.ts";
import { compareArrays, compareObjects, isSameText, partKeywords } from "./compare-parts.ts";
import type { NodePair, PartComparer } from "./compare-parts.ts";
import type { SchemaSide } from "./compiled-schema.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { annotationKeywords } from "./keywords.ts";
import { PairMemory } from "./pair-memory.ts";
import { isWeighable, weigh } from "./shape-weight.ts";
import { createSchemaDocument } from "./schema-document.ts";
import type { SchemaDocument } from "./schema-document.ts";

/** Two shapes, the values of the one of which the other is to take. */
export interface ShapePair {
  readonly producer: JsonSchema;
  readonly consumer: JsonSchema;
  readonly side: SchemaSide;
}

// What two ends have in common is found long before; beyond these the two are in doubt. A step is a part looked at.
const maxSteps = 1_000_000;
const maxRefs = 32;
const anything: JsonObject = {};
const nothing: JsonObject = { not: {} };
const unionKeywords: ReadonlySet<string> = new Set(["anyOf", "allOf", "$ref"]);

/**
 * Returns where two shapes first differ in a way that keeps the one from taking what the other gives, dotted, and empty
 * at the root; undefined when every value fits. What cannot be told for certain differs. Both may come from a peer:
 * never throws, runs no pattern, and ends.
 */
export function compareShapes({ producer, consumer, side }: ShapePair): string | undefined {
  const comparison: Comparison = {
    side,
    documents: { producer: createSchemaDocument(producer), consumer: createSchemaDocument(consumer) },
    memory: new PairMemory(),
    weighed: new Set(),
    steps: 0,
  };
  try {
    if (!isWeighable(producer) || !isWeighable(consumer)) return "";
    if (canonicalText(producer) === canonicalText(consumer)) return undefined;
    return compare(comparison, { producer, consumer, path: "" });
  } catch {
    // Nested without end, or a reference that leads nowhere.
    return "";
  }
}

interface Comparison {
  readonly side: SchemaSide;
  readonly documents: { readonly producer: SchemaDocument; readonly consumer: SchemaDocument };
  readonly memory: PairMemory;
  /** Lists of values whose texts are known. */
  readonly weighed: Set<JsonValue>;
  steps: number;
}

function compare(comparison: Comparison, pair: NodePair): string | undefined {
  // Where a reference goes round, the one may give anything, and the other may take nothing.
  const producer = resolve(comparison.documents.producer, pair.producer) ?? anything;
  const consumer = resolve(comparison.documents.consumer, pair.consumer) ?? nothing;
  if (isEmpty(consumer) || isNever(producer)) return undefined;
  comparison.steps += 1;
  if (comparison.steps > maxSteps || isNever(consumer)) return pair.path;
  return comparison.memory.recall({ ...pair, producer, consumer }, () => {
    const isTooMuch = !spend(comparison, { producer, consumer });
    return isTooMuch ? pair.path : compareNodes(comparison, { ...pair, producer, consumer });
  });
}

/** Spends what it takes to compare two nodes by themselves; `false` when that is too much. */
function spend(comparison: Comparison, { producer, consumer }: Omit<NodePair, "path">): boolean {
  comparison.steps += spanOf(producer) + spanOf(consumer);
  for (const node of [producer, consumer]) {
    const { enum: values, const: value } = node;
    comparison.steps += weigh(value);
    // Their texts are made once, and those of a producer are looked up each time.
    if (values === undefined) continue;
    if (!comparison.weighed.has(values)) comparison.steps += weigh(values);
    comparison.weighed.add(values);
  }
  comparison.steps += listOf(producer["enum"]).length;
  return comparison.steps <= maxSteps;
}

/** How many parts a node has itself; values are counted apart. */
function spanOf(node: JsonObject): number {
  let span = 0;
  for (const key in node) {
    const part = node[key];
    span += 1;
    if (key === "enum" || key === "const" || typeof part !== "object" || part === null) continue;
    span += Array.isArray(part) ? part.length : Object.keys(part).length;
  }
  return span;
}

function compareNodes(comparison: Comparison, pair: NodePair): string | undefined {
  const { consumer, producer, path } = pair;
  const { anyOf, allOf } = consumer;
  for (const part of listOf(allOf)) {
    const found = compare(comparison, { producer, consumer: toNode(part), path });
    if (found !== undefined) return found;
  }
  if (anyOf !== undefined && !fitsSome(comparison, pair, listOf(anyOf).map(toNode))) return path;
  return compareOwn(comparison, pair);
}

/** Tells whether each value of the producer fits some arm. Not always the same one: what it allows is taken apart. */
function fitsSome(comparison: Comparison, { producer, path }: NodePair, arms: readonly JsonObject[]): boolean {
  if (arms.some((consumer) => compare(comparison, { producer, consumer, path }) === undefined)) return true;
  let hasCases = false;
  for (const one of casesOf(comparison, producer)) {
    hasCases = true;
    // Counted before the next is made: whoever says much must not have it made again for each of its values.
    comparison.steps += 1 + spanOf(one);
    if (comparison.steps > maxSteps) return false;
    if (!fitsSome(comparison, { producer: one, consumer: one, path }, arms)) return false;
  }
  return hasCases;
}

function* casesOf(comparison: Comparison, node: JsonObject): Generator<JsonObject> {
  const { anyOf, ...rest } = node;
  if (anyOf !== undefined) {
    for (const arm of listOf(anyOf)) yield resolve(comparison.documents.producer, toNode(arm)) ?? anything;
    return;
  }
  const values = valuesOf(node);
  const [key, parts] = values === undefined ? (["type", typesOf(node) ?? []] as const) : (["enum", values] as const);
  // One alone is the node itself.
  if (parts.length < 2) return;
  for (const part of parts) yield { ...rest, [key]: key === "enum" ? [part] : part };
}

/** Compares all keywords but those of alternatives, which a producer may have said in its own. */
function compareOwn(comparison: Comparison, pair: NodePair): string | undefined {
  const { producer, path } = pair;
  const found = compareKeywords(comparison, pair);
  if (found === undefined) return undefined;
  const consumer = comparison.memory.ownOf(pair.consumer, withoutUnions);
  const fits = (part: JsonValue): boolean =>
    compare(comparison, { producer: toNode(part), consumer, path }) === undefined;
  const arms = listOf(producer["anyOf"]);
  return (arms.length > 0 && arms.every(fits)) || listOf(producer["allOf"]).some(fits) ? undefined : found;
}

function compareKeywords(comparison: Comparison, pair: NodePair): string | undefined {
  const { producer, consumer, path } = pair;
  if (!fitsBounds(producer, consumer) || !fitsOthers(producer, consumer)) return path;
  const comparer: PartComparer = {
    side: comparison.side,
    compare: (given, asked, at) => compare(comparison, { producer: toNode(given), consumer: toNode(asked), path: at }),
  };
  const found = mayBe(producer, "object") ? compareObjects(pair, comparer) : undefined;
  return found ?? (mayBe(producer, "array") ? compareArrays(pair, comparer) : undefined);
}

/** Keywords that are seldom: said in the same words, or in doubt. */
function fitsOthers(producer: JsonObject, consumer: JsonObject): boolean {
  return Object.entries(consumer).every(([key, asked]) => {
    if (boundKeywords.has(key) || partKeywords.has(key) || unionKeywords.has(key)) return true;
    if (annotationKeywords.has(key) || key.startsWith("x-")) return true;
    const given = producer[key];
    return given !== undefined && asked !== undefined && isSameText(given, asked);
  });
}

function withoutUnions(node: JsonObject): JsonObject {
  const { anyOf: _anyOf, allOf: _allOf, ...own } = node;
  return own;
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

function toNode(part: JsonValue | undefined): JsonObject {
  if (isJsonObject(part)) return part;
  return part === false ? nothing : anything;
}

function isEmpty(node: JsonObject): boolean {
  return Object.keys(node).every((key) => annotationKeywords.has(key) || key.startsWith("x-"));
}

function isNever(node: JsonObject): boolean {
  const { not } = node;
  return not === true || (isJsonObject(not) && isEmpty(not));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
