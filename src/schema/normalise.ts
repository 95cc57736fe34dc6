import { SurfaceError } from "../errors.ts";
import { combineRef } from "./combine-ref.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { annotationKeywords, listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";
import { compareKeywords, orderKeywords } from "./order-keywords.ts";
import { relaxIntersection } from "./relax-intersection.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { isNode, tidyNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { setOwn } from "./set-own.ts";
import { wireKey } from "./wire-forms.ts";

// Inlining a schema of n doubly used levels costs 2^n nodes: beyond this many, the rest accepts anything.
const maxNodes = 10_000;
// Deeper than any host renders, and than any argument that the gate lets in (64 levels).
const maxDepth = 64;
// What tidyNode leaves in a node for us, and agents never see.
const internalKeywords: ReadonlySet<string> = new Set([wireKey, "$ref", "$dynamicRef"]);

/** How to read a document. */
export interface NormaliseOptions {
  /** Members of an `allOf` share their keys, as zod's intersections do: a closed one does not close the others. */
  readonly pooled?: boolean;
}

interface Walk {
  readonly document: SchemaDocument;
  readonly pooled: boolean;
  readonly path: string[];
  /** The nodes being expanded right now: to meet one again is recursion. */
  readonly active: Set<unknown>;
  nodes: number;
  /** How many nodes accept more than the author's: wire forms, recursion, limits. */
  widened: number;
}

/**
 * Makes a document self-contained and canonical: every local `$ref` is inlined (its siblings survive), each node is
 * tidied, keywords come in one order. Recursion, more than 64 levels and more than 10,000 nodes become nodes that
 * accept anything and say so. Values of `default`, `const`, `enum` and `examples` are data and stay untouched.
 * Idempotent; the document is not mutated.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the path, for a reference that is remote or points at nothing.
 */
export function normalise(document: SchemaDocument, options: NormaliseOptions = {}): JsonObject {
  const walk: Walk = { document, pooled: options.pooled ?? false, path: [], active: new Set(), nodes: 0, widened: 0 };
  return inline(walk, document.root, isNode(document.root) ? document.root : {});
}

function inline(walk: Walk, raw: unknown, outer: SchemaNode): JsonObject {
  const limit = limitAt(walk, raw);
  if (limit !== undefined) return widen(walk, limit);
  const base = isNode(raw) && typeof raw["$id"] === "string" ? raw : outer;
  walk.active.add(raw);
  const copy = inlineNode(walk, tidyNode(raw), base);
  walk.active.delete(raw);
  return walk.pooled ? relaxIntersection(copy) : copy;
}

function limitAt(walk: Walk, raw: unknown): string | undefined {
  if (isNode(raw) && walk.active.has(raw)) return `Recursive: the same shape as ${nameOf(raw)}`;
  walk.nodes += 1;
  if (walk.nodes > maxNodes) return `Left out: the schema has more than ${maxNodes} nodes`;
  return walk.active.size > maxDepth ? `Left out: more than ${maxDepth} levels deep` : undefined;
}

function inlineNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const before = walk.widened;
  if (node[wireKey] !== undefined || acceptsAnything(node)) walk.widened += 1;
  const copied = copyNode(walk, node, base);
  const own = walk.widened > before ? openExclusive(copied) : copied;
  const ref = node["$ref"] ?? node["$dynamicRef"];
  return typeof ref === "string" ? combineRef(inlineRef(walk, ref, base), own) : own;
}

function inlineRef(walk: Walk, ref: string, base: SchemaNode): JsonObject {
  const target = resolve(walk, ref, base);
  return inline(walk, target.node, target.base);
}

function resolve(walk: Walk, ref: string, base: SchemaNode): { node: unknown; base: SchemaNode } {
  try {
    return walk.document.resolve(ref, base);
  } catch (cause) {
    if (!(cause instanceof SurfaceError)) throw cause;
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `at "${walk.path.join(".") || "(root)"}": ${cause.message}`, {
      cause,
    });
  }
}

function copyNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(node).toSorted(compareKeywords)) {
    if (!internalKeywords.has(key)) copy[key] = copyKeyword(walk, { key, value: node[key] }, base);
  }
  return copy;
}

function copyKeyword(walk: Walk, { key, value }: { key: string; value: unknown }, base: SchemaNode): JsonValue {
  walk.path.push(key);
  const copy = copyValue(walk, { key, value }, base);
  walk.path.pop();
  return copy;
}

function copyValue(walk: Walk, { key, value }: { key: string; value: unknown }, base: SchemaNode): JsonValue {
  // `additionalProperties: false` has no spelling as readable as the boolean.
  if (schemaKeywords.has(key)) return typeof value === "boolean" && key !== "not" ? value : inline(walk, value, base);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map((item) => inline(walk, item, base));
  if (mapKeywords.has(key) && isNode(value)) {
    const copy: Record<string, JsonValue> = {};
    for (const [name, schema] of Object.entries(value)) {
      walk.path.push(name);
      setOwn(copy, name, inline(walk, schema, base));
      walk.path.pop();
    }
    return copy;
  }
  // tidyNode lets only JSON data through under the other keywords; a copy, since the result is frozen.
  return (typeof value === "object" ? structuredClone(value) : value) as JsonValue;
}

function acceptsAnything(node: SchemaNode): boolean {
  return Object.keys(node).every((key) => annotationKeywords.has(key) || key.startsWith("x-"));
}

function nameOf(raw: unknown): string {
  const title = isNode(raw) ? raw["title"] : undefined;
  return typeof title === "string" ? title : "an enclosing value";
}

function widen(walk: Walk, description: string): JsonObject {
  walk.widened += 1;
  return { description };
}

// Two arms that were told apart in memory may look the same on the wire, and `oneOf` would then reject both.
function openExclusive(node: JsonObject): JsonObject {
  const { oneOf, ...rest } = node;
  return oneOf === undefined || node["anyOf"] !== undefined ? node : orderKeywords({ ...rest, anyOf: oneOf });
}
