import type * as z from "zod";
import { SurfaceError } from "../errors.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import { setOwn, toList } from "./json.ts";
import type { JsonValue } from "./json.ts";
import type { RawSchema } from "./read-standard.ts";
import { isNode, toJsonData } from "./schema-document.ts";
import type { SchemaNode } from "./schema-document.ts";
import type { SchemaSide } from "./standard.ts";
import { mapSchema, setSchema, wireKey } from "./wire-forms.ts";
import { checkedForm, countKeywords, defined, leafNode, patternSources, readZodBounds } from "./zod-leaves.ts";
import { isTransforming, isZodSchema, mayBeAbsent, mayBeUndefined, passedOn, zodInternals } from "./zod-schema.ts";

/** A node before it is complete. */
type Draft = Record<string, unknown>;

interface Walk {
  readonly side: SchemaSide;
  /** The node of each schema. A schema that is used twice has one node, and a recursive one is a circle of nodes. */
  readonly nodes: Map<z.core.$ZodType, Draft>;
  readonly done: Set<Draft>;
  /** The `$id` of each node that another one refers to because it was not complete. */
  readonly referred: Map<Draft, string>;
}

const formless: ReadonlySet<string> = new Set([
  ...["date", "bigint", "map", "set", "undefined", "void", "symbol", "function", "nan", "custom", "transform"],
]);

const shapeKeywords = ["type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"];

const maxDepth = 64;

/**
 * Converts a zod schema to JSON Schema by its published definition (`_zod.def`), which all versions of zod 4 share. The
 * package imports no zod: schemas of any copy, of `zod/mini` too, are converted alike, and dates, bigints, maps and sets
 * take their documented form (docs/decisions/0036).
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a type that this package does not know.
 */
export function readZod(schema: z.core.$ZodTypes, side: SchemaSide): RawSchema {
  const walk: Walk = { side, nodes: new Map(), done: new Set(), referred: new Map() };
  const root = convert(walk, schema);
  const parts = Object.fromEntries(Array.from(walk.referred, ([node, id]) => [id, node]));
  const document = walk.referred.size === 0 ? root : { ...root, $defs: parts };
  return { document, optional: isOptional(schema, side), rebuilds: true, isResolved: true };
}

function isOptional(schema: z.core.$ZodTypes, side: SchemaSide): boolean {
  if (side === "output") return mayBeUndefined(schema);
  const { type } = zodInternals(schema).def;
  return type === "undefined" || type === "void" || mayBeAbsent(schema, side);
}

function convert(walk: Walk, schema: z.core.$ZodType): Draft {
  const known = walk.nodes.get(schema);
  if (known !== undefined) return known;
  if (!isZodSchema(schema)) throw unknownType(typeof schema);
  const own = ownKeywords(walk, schema);
  const inner = passedOn(schema, walk.side);
  if (inner !== undefined) return wrap(walk, schema, own);
  const node: Draft = {};
  walk.nodes.set(schema, node);
  // The shape in an author's metadata replaces a type that JSON Schema cannot express.
  const isReplaced = formless.has(zodInternals(schema).def.type) && shapeKeywords.some((key) => own[key] !== undefined);
  const shape = isReplaced ? {} : (leafNode(schema) ?? structureNode(walk, schema));
  Object.assign(node, shape, own);
  walk.done.add(node);
  return node;
}

/** Converts a wrapper to the node of the schema in it, or to a copy of that node if the wrapper has keywords. */
function wrap(walk: Walk, schema: z.core.$ZodTypes, own: Draft): Draft {
  const inner = passedOn(schema, walk.side);
  const node = inner === undefined ? {} : convert(walk, inner);
  const isChecked = isUnseen(schema);
  if (Object.keys(own).length === 0 && !isChecked) {
    walk.nodes.set(schema, node);
    return node;
  }
  const copy: Draft = { ...(walk.done.has(node) ? node : { $ref: refer(walk, node) }), ...own };
  if (isChecked) copy[wireKey] ??= checkedForm;
  walk.nodes.set(schema, copy);
  walk.done.add(copy);
  return copy;
}

function refer(walk: Walk, node: Draft): string {
  const id = walk.referred.get(node) ?? `~zod/${walk.referred.size}`;
  walk.referred.set(node, id);
  node["$id"] = id;
  return id;
}

/** Returns the keywords of the schema itself: its metadata and its default. */
function ownKeywords(walk: Walk, schema: z.core.$ZodTypes): Draft {
  const own = metadataOf(schema);
  const { type } = zodInternals(schema).def;
  // The output of a prefault has no default: zod fills it in before the schema runs.
  const fallback = walk.side === "output" && type === "prefault" ? undefined : toWireData(fallbackOf(schema));
  if (fallback !== undefined) own["default"] ??= fallback;
  if (type === "readonly") own["readOnly"] ??= true;
  const hasExamples = ["default", "examples"].some((key) => key in own);
  if (walk.side === "output" || !hasExamples || !isTransforming(schema)) return own;
  // Both are of the output's type: before a transform they would be wrong.
  const { default: _default, examples: _examples, ...others } = own;
  return others;
}

/** Tells whether zod fills in a value that is not plain JSON: the schema does not check it. */
function isUnseen(schema: z.core.$ZodTypes): boolean {
  const { type } = zodInternals(schema).def;
  if (type !== "default" && type !== "catch") return false;
  const value = fallbackOf(schema);
  return value === undefined || toJsonData(value) !== value;
}

/** Returns the value that a default, prefault or catch fills in; undefined when it depends on the input. */
function fallbackOf(schema: z.core.$ZodTypes): unknown {
  const { def } = zodInternals(schema);
  if (def.type === "default" || def.type === "prefault") return def.defaultValue;
  if (def.type !== "catch") return undefined;
  try {
    // A catch that reads its context throws here.
    return Reflect.apply(def.catchValue, undefined, [undefined]);
  } catch {
    return undefined;
  }
}

function structureNode(walk: Walk, schema: z.core.$ZodTypes): SchemaNode {
  const { def } = zodInternals(schema);
  switch (def.type) {
    case "object":
      return objectNode(walk, def);
    case "array":
      return arrayNode(walk, schema, def);
    case "tuple":
      return { ...tupleNode(walk, def), ...countKeywords(schema) };
    case "record":
      return recordNode(walk, def);
    case "map":
      return mapSchema(convert(walk, def.keyType), convert(walk, def.valueType));
    case "set":
      return setSchema(convert(walk, def.valueType));
    case "union":
      return unionNode(walk, def);
    case "intersection":
      return intersectionNode(walk, def);
    case "nullable":
      return { anyOf: [convert(walk, def.innerType), { type: "null" }] };
    default:
      throw unknownType(def.type);
  }
}

function intersectionNode(walk: Walk, def: z.core.$ZodIntersectionDef): SchemaNode {
  const [left, right] = [convert(walk, def.left), convert(walk, def.right)];
  // A part that is not complete is recursive, and stays a part.
  const folded = walk.done.has(left) && walk.done.has(right) ? foldIntersection(left, right) : undefined;
  return folded ?? { allOf: [left, right] };
}

function unionNode(walk: Walk, def: z.core.$ZodUnionDef): SchemaNode {
  const arms = def.options.map((option) => convert(walk, option));
  return "inclusive" in def && !def.inclusive ? { oneOf: arms } : { anyOf: arms };
}

/**
 * Writes an intersection of objects as one object, and one with a union as a union of such objects: easier to read than
 * an `allOf`, and to compare. Undefined where a part has other keywords than fields, or where two share a field.
 */
function foldIntersection(left: SchemaNode, right: SchemaNode): SchemaNode | undefined {
  const [lefts, rights] = [armsOf(left), armsOf(right)];
  if (lefts === undefined && rights === undefined) return foldObjects(left, right);
  const folded =
    lefts === undefined
      ? toList(rights).map((arm) => foldObjects(left, arm))
      : lefts.map((arm) => foldObjects(arm, right));
  return folded.includes(undefined) ? undefined : { anyOf: folded };
}

/** Returns the arms of a node that is a union without further keywords. */
function armsOf({ anyOf, oneOf, ...rest }: SchemaNode): readonly unknown[] | undefined {
  const arms = anyOf ?? oneOf;
  return Array.isArray(arms) && Object.keys(rest).length === 0 ? arms : undefined;
}

function foldObjects(left: unknown, right: unknown): SchemaNode | undefined {
  if (!isFoldable(left) || !isFoldable(right)) return undefined;
  const properties: Draft = {};
  for (const { properties: own } of [left, right]) {
    for (const [key, part] of Object.entries(isNode(own) ? own : {})) {
      if (Object.hasOwn(properties, key)) return undefined;
      setOwn(properties, key, part);
    }
  }
  const required = [left, right].flatMap((node) => toList(node["required"]).map(String));
  // A field that neither declares is refused only where both refuse it.
  const isClosed = left["additionalProperties"] === false && right["additionalProperties"] === false;
  return objectOf(properties, required, isClosed ? false : undefined);
}

function objectOf(properties: Draft, required: readonly string[], additionalProperties: unknown): SchemaNode {
  return defined({
    type: "object",
    properties,
    required: required.length > 0 ? required : undefined,
    additionalProperties,
  });
}

const foldedKeywords: ReadonlySet<string> = new Set(["type", "properties", "required", "additionalProperties"]);

function isFoldable(node: unknown): node is SchemaNode {
  if (!isNode(node)) return false;
  const { type, additionalProperties: rest } = node;
  if (type !== "object" || (rest !== undefined && rest !== false)) return false;
  return Object.keys(node).every((key) => foldedKeywords.has(key));
}

function arrayNode(walk: Walk, schema: z.core.$ZodTypes, def: z.core.$ZodArrayDef): SchemaNode {
  const form = mayBeUndefined(def.element) ? checkedForm : undefined;
  return defined({ type: "array", items: convert(walk, def.element), ...countKeywords(schema), [wireKey]: form });
}

function tupleNode(walk: Walk, def: z.core.$ZodTupleDef): SchemaNode {
  const least = def.items.findLastIndex((item) => !mayBeAbsent(item, walk.side)) + 1;
  const isOpen = [...def.items, def.rest].some((item) => mayBeUndefined(item));
  return defined({
    type: "array",
    prefixItems: def.items.map((item) => convert(walk, item)),
    ...(def.rest ? { items: convert(walk, def.rest) } : { items: false, maxItems: def.items.length }),
    minItems: least > 0 ? least : undefined,
    [wireKey]: isOpen ? checkedForm : undefined,
  });
}

function objectNode(walk: Walk, { shape, catchall }: z.core.$ZodObjectDef): SchemaNode {
  const properties: Draft = {};
  for (const [key, field] of Object.entries(shape)) setOwn(properties, key, convert(walk, field));
  const required = Object.keys(shape).filter((key) => !mayBeLeftOut(walk, shape[key]));
  const isStrict = catchall === undefined ? walk.side === "output" : zodInternals(catchall).def.type === "never";
  const rest = isStrict ? false : catchall === undefined ? undefined : convert(walk, catchall);
  return objectOf(properties, required, rest);
}

// On the wire a property that is undefined is absent, although zod wants the key of an output to be there.
function mayBeLeftOut(walk: Walk, field: unknown): boolean {
  return walk.side === "output" ? mayBeUndefined(field) : mayBeAbsent(field, "input");
}

function recordNode(walk: Walk, def: z.core.$ZodRecordDef): SchemaNode {
  const values = convert(walk, def.valueType);
  const patterns = patternSources(readZodBounds(def.keyType).patterns);
  if ("mode" in def && def.mode === "loose" && patterns.length > 0) {
    const patternProperties: Draft = {};
    for (const pattern of patterns) setOwn(patternProperties, pattern, values);
    return { type: "object", patternProperties };
  }
  const keys = zodInternals(def.keyType).values;
  const isPartial = ("partial" in def && def.partial) || mayBeLeftOut(walk, def.valueType);
  const required = isPartial ? [] : [...(keys ?? [])].filter((key) => ["string", "number"].includes(typeof key));
  return defined({
    type: "object",
    propertyNames: toNames(convert(walk, def.keyType)),
    additionalProperties: values,
    required: required.length > 0 ? required.map(String) : undefined,
  });
}

/** Converts the keys of a record to schemas of property names: a number becomes its decimal text. */
function toNames(keys: SchemaNode): SchemaNode {
  const { type, enum: values, const: value, anyOf } = keys;
  if (Array.isArray(anyOf)) return { ...keys, anyOf: anyOf.map((arm: unknown) => (isNode(arm) ? toNames(arm) : arm)) };
  if (Array.isArray(values)) return { type: "string", enum: values.map(String) };
  if (typeof value === "number") return { type: "string", const: String(value) };
  if (type === "integer") return { type: "string", pattern: String.raw`^-?\d+$` };
  return type === "number" ? { type: "string", pattern: String.raw`^-?\d+(?:\.\d+)?$` } : keys;
}

function unknownType(type: string): SurfaceError {
  return new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `zod's type "${type}" is not known; use another type, or put JSON Schema beside it with withJsonSchema()`,
  );
}

/**
 * Returns the author's `.meta()` as JSON Schema keywords: without `id`, which is a name and no keyword, and with dates,
 * bigints, maps and sets in their wire form. A value without a wire form is left out.
 */
function metadataOf(schema: z.core.$ZodType): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(registered(schema))) {
    const wire = key === "id" || key === wireKey ? undefined : toWireData(value);
    if (wire !== undefined) keywords[key] = wire;
  }
  return keywords;
}

/**
 * Reads metadata from the copy of zod that made the schema. `zod/mini` has no `meta()`; its registry is global from zod 4.1 on, and
 * private before that.
 */
function registered(schema: z.core.$ZodType): object {
  // The method of a zod 4 schema: without arguments it reads.
  if ("meta" in schema && isFunction(schema.meta)) return toObject(Reflect.apply(schema.meta, schema, []));
  const registry = toObject(Reflect.get(globalThis, "__zod_globalRegistry"));
  return "get" in registry && isFunction(registry.get) ? toObject(Reflect.apply(registry.get, registry, [schema])) : {};
}

function toObject(value: unknown): object {
  return isObject(value) ? value : {};
}

/** Returns the JSON form of a default or an example, without a schema; undefined when it has none. */
function toWireData(value: unknown): JsonValue | undefined {
  return toJsonData(unwrap(value, 0));
}

function unwrap(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return Symbol("too deep");
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map || value instanceof Set)
    return Array.from(value, (item: unknown) => unwrap(item, depth + 1));
  if (Array.isArray(value)) return value.map((item) => unwrap(item, depth + 1));
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unwrap(item, depth + 1)]));
}
