import { SurfaceError } from "../errors.ts";
import { setOwn } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import {
  compareKeywords,
  isAnnotation,
  keywordGroups,
  listKeywords,
  mapKeywords,
  orderKeywords,
  schemaKeywords,
  standardTypes,
} from "./keywords.ts";
import { toPortableNode } from "./portable-node.ts";
import { relaxIntersection } from "./fold-intersection.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { isNode, maxSchemaDepth, maxSchemaNodes, tidyNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { wireKey } from "./wire-forms.ts";

// Characters of the JSON text. What a source repeats by references costs it nothing and every listing all of it; no model
// reads a schema of this size.
const maxLength = 524_288;
// Quotes and a colon around a key, quotes around a text or brackets around a list, a comma.
const quotesLength = 6;
const maxShownKeys = 8;
// A wider schema below them makes the node around them narrower, or another one.
const exactKeywords: ReadonlySet<string> = new Set(["not", "if", "contains"]);
const combiners: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
// What tidyNode leaves in a node for us, and agents never see.
const internalKeywords: ReadonlySet<string> = new Set([wireKey, "$ref", "$dynamicRef"]);

/** Options of {@link normalise}. */
export interface NormaliseOptions {
  /** Members of an `allOf` share their keys, as zod's intersections do: a closed one does not close the others. */
  readonly pooled?: boolean;
  /** Keeps `oneOf` in the root and in the parts and arms of the root. @default false: it becomes `anyOf` everywhere */
  readonly keepsOneOf?: boolean;
}

interface Walk {
  readonly document: SchemaDocument;
  readonly pooled: boolean;
  readonly keepsOneOf: boolean;
  readonly path: string[];
  /** The nodes being expanded right now: to meet one again is recursion. */
  readonly active: Set<unknown>;
  nodes: number;
  /** The number of `not`, `if` and `contains` around the node that is written. */
  exact: number;
  /** Nodes that were replaced by one that accepts more. */
  standIns: number;
  /** Characters of JSON text that have been written. */
  length: number;
}

/**
 * Makes a document self-contained, canonical and portable: every local `$ref` is inlined (its siblings survive), each
 * node is tidied and written with the keywords that hosts understand, in one order. Recursion, more than 64 levels and
 * more than 10,000 nodes become nodes that say so and accept anything, recursion anything of its type. Values of
 * `default`, `enum` and `examples` are data and stay untouched. Idempotent; the document is not mutated.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the path, for a reference that is remote or points at nothing, and for a
 *   document of more than 524,288 characters with its references written out.
 */
export function normalise(document: SchemaDocument, options: NormaliseOptions = {}): JsonObject {
  const { pooled = false, keepsOneOf = false } = options;
  const counts = { nodes: 0, exact: 0, standIns: 0, length: 0 };
  const walk: Walk = { document, pooled, keepsOneOf, path: [], active: new Set(), ...counts };
  return inline(walk, document.root, isNode(document.root) ? document.root : {});
}

function inline(walk: Walk, raw: unknown, outer: SchemaNode): JsonObject {
  const standIn = standInAt(walk, raw);
  if (standIn !== undefined) {
    walk.standIns += 1;
    return standIn;
  }
  const base = isNode(raw) && typeof raw["$id"] === "string" ? raw : outer;
  walk.active.add(raw);
  const copy = inlineNode(walk, tidyNode(raw), base);
  walk.active.delete(raw);
  const isExact = walk.exact > 0 || (walk.keepsOneOf && walk.path.every((key) => combiners.has(key)));
  return toPortableNode(walk.pooled ? relaxIntersection(copy) : copy, isExact);
}

/** Returns the node that stands for one that is recursive, too deep or one too many. */
function standInAt(walk: Walk, raw: unknown): JsonObject | undefined {
  if (isNode(raw) && walk.active.has(raw)) return recursive(raw);
  walk.nodes += 1;
  if (walk.nodes > maxSchemaNodes) return { description: `Left out: the schema has more than ${maxSchemaNodes} nodes` };
  return walk.active.size > maxSchemaDepth
    ? { description: `Left out: more than ${maxSchemaDepth} levels deep` }
    : undefined;
}

// A node without a type is an error to some providers, and unions of the day are seldom recursive themselves.
function recursive(raw: SchemaNode): JsonObject {
  const { type } = raw;
  const description = `Recursive: the same shape as ${nameOf(raw)}`;
  return typeof type === "string" && standardTypes.has(type) ? { type, description } : { description };
}

function inlineNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const own = copyNode(walk, node, base);
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
    if (internalKeywords.has(key)) continue;
    const isExact = exactKeywords.has(key);
    const { standIns } = walk;
    if (isExact) walk.exact += 1;
    const part = copyKeyword(walk, { key, value: node[key] }, base);
    if (isExact) walk.exact -= 1;
    // A keyword left out accepts more, and a stand-in below it would refuse more.
    if (!isExact || walk.standIns === standIns) copy[key] = part;
  }
  return copy;
}

function copyKeyword(walk: Walk, { key, value }: { key: string; value: unknown }, base: SchemaNode): JsonValue {
  walk.path.push(key);
  spend(walk, key.length + quotesLength);
  const copy = copyValue(walk, { key, value }, base);
  walk.path.pop();
  return copy;
}

function copyValue(walk: Walk, { key, value }: { key: string; value: unknown }, base: SchemaNode): JsonValue {
  // `additionalProperties: false` has no spelling as readable as the boolean.
  if (schemaKeywords.has(key)) return typeof value === "boolean" && key !== "not" ? value : inline(walk, value, base);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map((item) => inline(walk, item, base));
  return mapKeywords.has(key) && isNode(value) ? copyMap(walk, value, base) : copyData(walk, value);
}

function copyMap(walk: Walk, schemas: SchemaNode, base: SchemaNode): JsonValue {
  const copy: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    walk.path.push(name);
    spend(walk, name.length + quotesLength);
    setOwn(copy, name, inline(walk, schema, base));
    walk.path.pop();
  }
  return copy;
}

function copyData(walk: Walk, value: unknown): JsonValue {
  spend(walk, typeof value === "string" ? value.length : JSON.stringify(value).length);
  // tidyNode lets only JSON data through under the other keywords; a copy, since the result is frozen.
  return (typeof value === "object" ? structuredClone(value) : value) as JsonValue;
}

function spend(walk: Walk, length: number): void {
  walk.length += length;
  if (walk.length <= maxLength) return;
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `at "${walk.path.slice(0, maxShownKeys).join(".")}": it is more than ${maxLength} characters long with its references ` +
      "written out; describe less, or repeat less",
  );
}

function nameOf(raw: unknown): string {
  const title = isNode(raw) ? raw["title"] : undefined;
  return typeof title === "string" ? title : "an enclosing value";
}

/**
 * Joins what a `$ref` pointed at with the keywords beside it. Both apply: annotations beside the reference win over
 * the target's, constraints are merged where that keeps their meaning and put into an `allOf` where it does not.
 */
function combineRef(target: JsonObject, siblings: JsonObject): JsonObject {
  const keys = Object.keys(siblings);
  if (keys.length === 0) return target;
  const annotations = pick(siblings, isAnnotation);
  const constraints = pick(siblings, (key) => !Object.hasOwn(annotations, key));
  const clashes = Object.keys(constraints).some((key) => clashesWith(target, key, constraints[key]));
  if (!clashes) return orderKeywords({ ...target, ...constraints, ...annotations });
  return orderKeywords({ ...annotations, allOf: [target, constraints] });
}

function clashesWith(target: JsonObject, key: string, value: JsonValue | undefined): boolean {
  if (Object.hasOwn(target, key)) return JSON.stringify(target[key]) !== JSON.stringify(value);
  const group = keywordGroups.find((keywords) => keywords.has(key));
  return group !== undefined && Object.keys(target).some((other) => group.has(other));
}

function pick(node: JsonObject, keep: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => keep(key)));
}
