import { canonicalText, isJsonObject, setOwn } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { compareKeywords, isAnnotation, listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";
import { relaxIntersection } from "./fold-intersection.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { isNode, maxSchemaDepth, maxSchemaNodes, tidyNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { wireKey } from "./wire-forms.ts";

// References are written out. Encodings say how to show a value, and reject none.
const omittedKeywords: ReadonlySet<string> = new Set([
  ...["contentEncoding", "contentMediaType", "contentSchema", "$ref", "$dynamicRef"],
]);

/** At the root of a shape: the value may be left out. */
export const optionalKey = "x-optional";
const unorderedKeywords: ReadonlySet<string> = new Set(["type", "enum", "required"]);

interface Walk {
  readonly document: SchemaDocument;
  readonly pooled: boolean;
  readonly path: string[];
  /** The nodes being expanded right now, each with how much of the path leads to it. */
  readonly active: Map<unknown, number>;
  nodes: number;
}

interface Keyword {
  readonly key: string;
  readonly value: unknown;
}

/**
 * Returns the schema by which the reader of a link checks values: the normalised schema without annotations. Unlike the one for
 * agents it keeps wire markers, and recursion as a `$ref` by JSON Pointer to the place where it began. `oneOf` becomes `anyOf`: a
 * reader accepts two fitting arms, and libraries change from one to the other. Canonical up to the order of keys, without the
 * names that a library gave to its definitions.
 */
export function toReaderSchema(document: SchemaDocument, options: { readonly pooled: boolean }): JsonObject {
  const walk: Walk = { document, pooled: options.pooled, path: [], active: new Map(), nodes: 0 };
  return inline(walk, document.root, isNode(document.root) ? document.root : {});
}

function inline(walk: Walk, raw: unknown, outer: SchemaNode): JsonObject {
  const start = isNode(raw) ? walk.active.get(raw) : undefined;
  if (start !== undefined) return start === walk.path.length ? {} : { $ref: toPointer(walk.path.slice(0, start)) };
  walk.nodes += 1;
  if (walk.nodes > maxSchemaNodes || walk.active.size > maxSchemaDepth) return {};
  walk.active.set(raw, walk.path.length);
  const base = isNode(raw) && typeof raw["$id"] === "string" ? raw : outer;
  const copy = inlineNode(walk, inclusive(tidyNode(raw)), base);
  walk.active.delete(raw);
  return walk.pooled ? relaxIntersection(copy) : copy;
}

function inlineNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const ref = node["$ref"] ?? node["$dynamicRef"];
  if (typeof ref !== "string") return copyNode(walk, node, base);
  const target = walk.document.resolve(ref, base);
  if (!Object.keys(node).some(isConstraint)) return inline(walk, target.node, target.base);
  // Not merged into one node, as for agents: what refers to the target must not meet the constraints beside it.
  return {
    allOf: [
      within(walk, ["allOf", "0"], () => inline(walk, target.node, target.base)),
      within(walk, ["allOf", "1"], () => copyNode(walk, node, base)),
    ],
  };
}

function copyNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(node).filter(isConstraint).toSorted(compareKeywords)) {
    copy[key] = within(walk, [key], () => copyValue(walk, { key, value: node[key] }, base));
  }
  return copy;
}

function copyValue(walk: Walk, { key, value }: Keyword, base: SchemaNode): JsonValue {
  if (schemaKeywords.has(key)) return typeof value === "boolean" && key !== "not" ? value : inline(walk, value, base);
  if (listKeywords.has(key) && Array.isArray(value)) {
    return value.map((item, index) => within(walk, [String(index)], () => inline(walk, item, base)));
  }
  if (mapKeywords.has(key) && isNode(value)) {
    const copy: Record<string, JsonValue> = {};
    for (const [name, schema] of Object.entries(value)) {
      setOwn(
        copy,
        name,
        within(walk, [name], () => inline(walk, schema, base)),
      );
    }
    return copy;
  }
  // tidyNode lets only JSON data through under the other keywords; a copy, since the result is frozen.
  return (typeof value === "object" ? structuredClone(value) : value) as JsonValue;
}

function within<$Made>(walk: Walk, keys: readonly string[], make: () => $Made): $Made {
  walk.path.push(...keys);
  const made = make();
  walk.path.length -= keys.length;
  return made;
}

function isConstraint(key: string): boolean {
  return !omittedKeywords.has(key) && !isAnnotation(key);
}

function inclusive(node: SchemaNode): SchemaNode {
  const { oneOf, ...rest } = node;
  return oneOf === undefined || node["anyOf"] !== undefined ? node : { ...rest, anyOf: oneOf };
}

// A pointer stands in a URI, where "%" begins an escape; everything else is read back as it is.
function toPointer(path: readonly string[]): string {
  const parts = path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("%", "%25")}`);
  return `#${parts.join("")}`;
}

/**
 * Returns the shape of a value for the contract of a link: the reader's schema without anything that could change while the values
 * stay the same. Recursion is a `$ref` by JSON Pointer, and `"x-optional": true` at the root says that the value may be left out.
 */
export function toContractShape(compiled: {
  readonly reader: () => JsonSchema;
  readonly optional: boolean;
}): JsonSchema {
  const shape = toShape(compiled.reader());
  return Object.freeze(compiled.optional ? { ...shape, [optionalKey]: true } : shape);
}

function toShape(node: JsonSchema): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(node)) {
    // A library's pattern for a format is its own affair, and differs from one patch of it to the next.
    if (key === wireKey || (key === "pattern" && node["format"] !== undefined)) continue;
    // A schema of one constant has two spellings.
    if (key === "const") copy["enum"] = [value];
    else copy[key] = toShapePart(key, value);
  }
  return copy;
}

function toShapePart(key: string, value: JsonValue): JsonValue {
  if (schemaKeywords.has(key)) return toShapeOf(value);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map(toShapeOf);
  if (unorderedKeywords.has(key) && Array.isArray(value)) return value.toSorted(byText);
  if (!mapKeywords.has(key) || !isJsonObject(value)) return value;
  const copy: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(value)) setOwn(copy, name, toShapeOf(schema ?? true));
  return copy;
}

function toShapeOf(value: JsonValue): JsonValue {
  return isJsonObject(value) ? toShape(value) : value;
}

function byText(first: JsonValue, second: JsonValue): number {
  return canonicalText(first) < canonicalText(second) ? -1 : 1;
}
