import type * as z from "zod";
import { SurfaceError } from "../errors.ts";
import type { SchemaSide } from "./standard.ts";
import { foldIntersection } from "./fold-intersection.ts";
import { setOwn } from "./json.ts";
import type { JsonValue } from "./json.ts";
import type { RawSchema } from "./read-standard.ts";
import { isNode, toJsonData } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { mapSchema, setSchema, wireKey } from "./wire-forms.ts";
import { checkedForm, countKeywords, leafNode, patternSources, readZodBounds } from "./zod-leaves.ts";
import { isTransforming, isZodSchema, mayBeAbsent, mayBeUndefined, passedOn, zodInternals } from "./zod-schema.ts";

/** A node that is being filled in. */
type Draft = Record<string, unknown>;

interface Walk {
  readonly side: SchemaSide;
  /** The node of each schema. A schema that is used twice has one node, and a recursive one is a circle of nodes. */
  readonly nodes: Map<z.core.$ZodType, Draft>;
  readonly done: Set<Draft>;
  /** Nodes that were needed before they were done, by the `$id` that refers to them. */
  readonly referred: Map<Draft, string>;
}

type Metadata = Readonly<Record<string, unknown>>;

interface Registry {
  get(schema: z.core.$ZodType): Metadata | undefined;
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
  return { document, optional: isOptional(schema, side), rebuilds: true };
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
  // An author who states the shape of something that JSON Schema cannot say means that instead.
  const shape = statesShape(own) && isFormless(schema) ? {} : (leafNode(schema) ?? structureNode(walk, schema));
  Object.assign(node, shape, own);
  walk.done.add(node);
  return node;
}

/** A wrapper is what it wraps, and where it says something itself a copy of that. */
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
  const fallback = shownFallback(walk, schema);
  if (fallback !== undefined) own["default"] ??= fallback;
  if (type === "readonly") own["readOnly"] ??= true;
  // A default is of the output's type: before a transform it would be a wrong example.
  const hasExamples = "default" in own || "examples" in own;
  return walk.side === "input" && hasExamples && isTransforming(schema) ? withoutExamples(own) : own;
}

/** Returns the default in its wire form. The output of a prefault has none: zod puts it in before the schema runs. */
function shownFallback(walk: Walk, schema: z.core.$ZodTypes): unknown {
  if (walk.side === "output" && zodInternals(schema).def.type === "prefault") return undefined;
  const value = fallbackOf(schema);
  return value === undefined ? undefined : toWireData(value);
}

function withoutExamples({ default: _default, examples: _examples, ...own }: Draft): Draft {
  return own;
}

/** Tells whether a fallback is put in that is no plain JSON: it passes the schema unseen. */
function isUnseen(schema: z.core.$ZodTypes): boolean {
  const { type } = zodInternals(schema).def;
  if (type !== "default" && type !== "catch") return false;
  const value = fallbackOf(schema);
  return value === undefined || toJsonData(value) !== value;
}

/** The value that a default, prefault or catch puts in; undefined when it depends on the input. */
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

function isFormless(schema: z.core.$ZodTypes): boolean {
  return formless.has(zodInternals(schema).def.type);
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
      return mapSchemaOf(walk, def);
    case "set":
      return { ...setSchema({}), items: convert(walk, def.valueType) };
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

function mapSchemaOf(walk: Walk, def: z.core.$ZodMapDef): SchemaNode {
  const { items, ...node } = mapSchema({}, {});
  const prefixItems = [convert(walk, def.keyType), convert(walk, def.valueType)];
  return { ...node, items: { ...(isNode(items) ? items : {}), prefixItems } };
}

function intersectionNode(walk: Walk, def: z.core.$ZodIntersectionDef): SchemaNode {
  const [left, right] = [convert(walk, def.left), convert(walk, def.right)];
  // A part that is still being filled in is recursive, and stays a part.
  const folded = walk.done.has(left) && walk.done.has(right) ? foldIntersection(left, right) : undefined;
  return folded ?? { allOf: [left, right] };
}

function unionNode(walk: Walk, def: z.core.$ZodUnionDef): SchemaNode {
  const arms = def.options.map((option) => convert(walk, option));
  return "inclusive" in def && !def.inclusive ? { oneOf: arms } : { anyOf: arms };
}

function arrayNode(walk: Walk, schema: z.core.$ZodTypes, def: z.core.$ZodArrayDef): SchemaNode {
  const isOpen = mayBeUndefined(def.element);
  const items = convert(walk, def.element);
  return { type: "array", items, ...countKeywords(schema), ...(isOpen ? { [wireKey]: checkedForm } : {}) };
}

function tupleNode(walk: Walk, def: z.core.$ZodTupleDef): SchemaNode {
  const least = def.items.findLastIndex((item) => !mayBeAbsent(item, walk.side)) + 1;
  const isOpen = [...def.items, def.rest].some((item) => mayBeUndefined(item));
  return {
    type: "array",
    prefixItems: def.items.map((item) => convert(walk, item)),
    ...(def.rest ? { items: convert(walk, def.rest) } : { items: false, maxItems: def.items.length }),
    ...(least > 0 ? { minItems: least } : {}),
    ...(isOpen ? { [wireKey]: checkedForm } : {}),
  };
}

function objectNode(walk: Walk, { shape, catchall }: z.core.$ZodObjectDef): SchemaNode {
  const properties: Draft = {};
  for (const [key, field] of Object.entries(shape)) setOwn(properties, key, convert(walk, field));
  const required = Object.keys(shape).filter((key) => !mayBeLeftOut(walk, shape[key]));
  const isStrict = catchall === undefined ? walk.side === "output" : zodInternals(catchall).def.type === "never";
  const rest = isStrict ? false : catchall === undefined ? undefined : convert(walk, catchall);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(rest === undefined ? {} : { additionalProperties: rest }),
  };
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
  const required = keys === undefined || isPartial ? [] : [...keys].filter(isKey).map(String);
  return {
    type: "object",
    propertyNames: toNames(convert(walk, def.keyType)),
    additionalProperties: values,
    ...(required.length > 0 ? { required } : {}),
  };
}

function isKey(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

/** The names of a record's properties, which are text: a number among the keys is its decimal text. */
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
  for (const [key, value] of Object.entries(registered(schema) ?? {})) {
    const wire = key === "id" || key === wireKey ? undefined : toWireData(value);
    if (wire !== undefined) keywords[key] = wire;
  }
  return keywords;
}

/** Tells whether metadata states the JSON Schema of a node, and not only describes it. */
function statesShape(metadata: Metadata): boolean {
  return shapeKeywords.some((key) => metadata[key] !== undefined);
}

/**
 * Asks the copy of zod that made the schema. `zod/mini` has no `meta()`; its registry is global from zod 4.1 on, and
 * before that nothing can be known about it from outside.
 */
function registered(schema: z.core.$ZodType): Metadata | undefined {
  if ("meta" in schema && typeof schema.meta === "function") {
    // The method of a zod 4 schema: without arguments it reads.
    const metadata: unknown = Reflect.apply(schema.meta, schema, []);
    return typeof metadata === "object" && metadata !== null ? Object.fromEntries(Object.entries(metadata)) : undefined;
  }
  return sharedRegistry()?.get(schema);
}

function sharedRegistry(): Registry | undefined {
  const registry: unknown = Reflect.get(globalThis, "__zod_globalRegistry");
  const isRegistry = typeof registry === "object" && registry !== null && "get" in registry;
  // zod's own name for the registry that all its copies share.
  return isRegistry ? (registry as Registry) : undefined;
}

/** Writes a default or an example as JSON by what it is, without a schema. Undefined when it has no JSON form. */
function toWireData(value: unknown): JsonValue | undefined {
  return toJsonData(unwrap(value, 0));
}

function unwrap(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return Symbol("too deep");
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map || value instanceof Set)
    return Array.from(value, (item: unknown) => unwrap(item, depth + 1));
  if (Array.isArray(value)) return value.map((item) => unwrap(item, depth + 1));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unwrap(item, depth + 1)]));
}
