import { SurfaceError } from "../errors.ts";
import { canonicalText, isJsonObject, isOfType, isStandardType, jsonTypeOf, toList } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import {
  compareKeywords,
  copySchemas,
  isAnnotation,
  keywordGroups,
  keywordsByType,
  orderKeywords,
  sensitiveKey,
} from "./keywords.ts";
import { isNode, maxSchemaDepth, maxSchemaNodes, tidyNode } from "./schema-document.ts";
import type { Located, SchemaDocument, SchemaNode } from "./schema-document.ts";
import { wireKey } from "./wire-forms.ts";

// Characters of JSON. References cost a source nothing, but each listing carries the schema with its references written out. No
// model reads a schema of this size.
const maxLength = 524_288;
// Quotes and a colon around a key, quotes around a text or brackets around a list, a comma.
const quotesLength = 6;
const maxShownKeys = 8;
// A wider schema below them makes the node around them narrower, or another one.
const exactKeywords: ReadonlySet<string> = new Set(["not", "if", "contains"]);
const combiners: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
// `tidyNode` leaves these to the walks over a document. Agents never see them.
const internalKeywords: ReadonlySet<string> = new Set([wireKey, "$ref", "$dynamicRef"]);
const typedKeywords: ReadonlySet<string> = new Set(["type", "enum", ...Object.values(keywordsByType).flat()]);

interface Walk {
  readonly document: SchemaDocument;
  readonly isPooled: boolean;
  readonly path: string[];
  /** The nodes that are being written: a reference to one of them is recursion. */
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
 * Makes a document self-contained, canonical and portable. Writes out each local `$ref` with its siblings, tidies each node, and
 * keeps the keywords that hosts understand, in one order. Recursion, more than 64 levels and more than 10,000 nodes become nodes
 * that say so and accept anything, recursion anything of its type. Values of `default`, `enum` and `examples` are data and stay.
 * Idempotent; does not change the document.
 *
 * @param isPooled - Whether the members of an `allOf` share their keys, as zod's intersections do: a closed one does not close the
 *   others.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the path, for a reference that is remote or points at nothing, and for a
 *   document of more than 524,288 characters with its references written out.
 */
export function normalise(document: SchemaDocument, isPooled = false): JsonObject {
  const walk: Walk = { document, isPooled, path: [], active: new Set(), nodes: 0, exact: 0, standIns: 0, length: 0 };
  return inline(walk, document.root, document.base);
}

function inline(walk: Walk, raw: unknown, outer: SchemaNode): JsonObject {
  const standIn = standInAt(walk, raw);
  if (standIn !== undefined) {
    walk.standIns += 1;
    // The part that is left out may have the secret.
    return walk.document.hasSecrets ? { ...standIn, [sensitiveKey]: true } : standIn;
  }
  const base = isNode(raw) && typeof raw["$id"] === "string" ? raw : outer;
  walk.active.add(raw);
  const copy = inlineNode(walk, tidyNode(raw), base);
  walk.active.delete(raw);
  return toPortableNode(walk.isPooled ? openMembers(copy) : copy, walk.exact > 0);
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

// A node without a type is an error to some providers.
function recursive({ type, title }: SchemaNode): JsonObject {
  const description = `Recursive: the same shape as ${typeof title === "string" ? title : "an enclosing value"}`;
  return isStandardType(type) ? { type, description } : { description };
}

function inlineNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const own = copyNode(walk, node, base);
  const ref = node["$ref"] ?? node["$dynamicRef"];
  if (typeof ref !== "string") return own;
  const target = resolve(walk, ref, base);
  return combineRef(inline(walk, target.node, target.base), own);
}

function resolve(walk: Walk, ref: string, base: SchemaNode): Located {
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

function copyKeyword(walk: Walk, keyword: { key: string; value: unknown }, base: SchemaNode): JsonValue {
  return within(walk, keyword.key, () => {
    const schemas = copySchemas(keyword, (schema, step) => {
      return typeof step === "string"
        ? within(walk, step, () => inline(walk, schema, base))
        : inline(walk, schema, base);
    });
    return schemas ?? copyData(walk, keyword.value);
  });
}

/** Writes what is below a keyword or a name. */
function within(walk: Walk, step: string, write: () => JsonValue): JsonValue {
  walk.path.push(step);
  countLength(walk, step.length + quotesLength);
  const json = write();
  walk.path.pop();
  return json;
}

function copyData(walk: Walk, value: unknown): JsonValue {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  countLength(walk, text.length);
  // tidyNode lets only JSON through under the other keywords; a copy, since the result is frozen.
  return (typeof value === "object" ? JSON.parse(text) : value) as JsonValue;
}

function countLength(walk: Walk, length: number): void {
  walk.length += length;
  if (walk.length <= maxLength) return;
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `at "${walk.path.slice(0, maxShownKeys).join(".")}": it is more than ${maxLength} characters long with its references ` +
      "written out; describe less, or repeat less",
  );
}

/**
 * Joins the target of a `$ref` with the keywords beside it. Annotations beside the reference win over the target's. Constraints are
 * merged where that keeps their meaning, and put into an `allOf` elsewhere.
 */
function combineRef(target: JsonObject, siblings: JsonObject): JsonObject {
  const keys = Object.keys(siblings);
  if (keys.length === 0) return target;
  const annotations = pick(siblings, isAnnotation);
  const constraints = pick(siblings, (key) => !isAnnotation(key));
  const clashes = Object.keys(constraints).some((key) => clashesWith(target, key, constraints[key]));
  if (!clashes) return orderKeywords({ ...target, ...constraints, ...annotations });
  return orderKeywords({ ...annotations, allOf: [target, constraints] });
}

function clashesWith(target: JsonObject, key: string, value: JsonValue | undefined): boolean {
  if (Object.hasOwn(target, key)) return JSON.stringify(target[key]) !== JSON.stringify(value);
  const group = keywordGroups.find((keywords) => keywords.has(key));
  return group !== undefined && Object.keys(target).some((other) => group.has(other));
}

function pick(node: JsonObject, isKept: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => isKept(key)));
}

/**
 * Opens the members of an `allOf`. In JSON Schema a closed member sees its own properties only, so two closed objects
 * reject each other's keys and nothing is valid; zod means "the keys of all members together".
 */
export function openMembers(node: JsonObject): JsonObject {
  const { allOf } = node;
  return Array.isArray(allOf) && allOf.length > 1 ? { ...node, allOf: allOf.map(openMember) } : node;
}

function openMember(member: JsonValue): JsonValue {
  if (!isJsonObject(member)) return member;
  const { additionalProperties, ...rest } = member;
  const open: JsonObject = additionalProperties === false ? rest : { ...member };
  for (const key of combiners) {
    const arms = open[key];
    if (Array.isArray(arms)) open[key] = arms.map(openMember);
  }
  return open;
}

/**
 * Rewrites a node with the keywords that hosts and providers understand: `anyOf` for `oneOf`, `enum` for `const`, one type
 * a node. The schemas below the node are portable already.
 *
 * @param isExact - Whether the result may not be wider than the node, as below `not`. Then `oneOf` stays. Elsewhere `anyOf`
 *   may be wider, because values are validated by the original schema.
 */
function toPortableNode(node: JsonObject, isExact: boolean): JsonObject {
  const portable = splitTypes(toTypedEnum(isExact ? node : toInclusive(node)));
  return portable === node ? node : orderKeywords(portable);
}

function toInclusive(node: JsonObject): JsonObject {
  if (node["oneOf"] === undefined) return node;
  const { oneOf, ...rest } = node;
  return withUnion(rest, oneOf);
}

/** Adds a union to a node, which may have another one. */
function withUnion(node: JsonObject, arms: JsonValue): JsonObject {
  if (node["anyOf"] === undefined) return { ...node, anyOf: arms };
  return { ...node, allOf: [...toList(node["allOf"]), { anyOf: arms }] };
}

function toTypedEnum(node: JsonObject): JsonObject {
  const values = valuesWithin(node);
  if (values === undefined) return node;
  const { const: only, ...rest } = node;
  if (values.length === 0) return { not: {} };
  if (rest["type"] !== undefined && only === undefined) return node;
  const types = [...new Set(values.map(jsonTypeOf))];
  const type = rest["type"] ?? (types.length === 1 ? types[0] : types);
  return { ...rest, ...(type === undefined ? {} : { type }), enum: values };
}

/** Returns the values that both the `const` and the `enum` of a node allow. */
function valuesWithin({ const: only, enum: values }: JsonObject): readonly JsonValue[] | undefined {
  if (only === undefined) return Array.isArray(values) ? values : undefined;
  const text = canonicalText(only);
  return !Array.isArray(values) || values.some((value) => canonicalText(value) === text) ? [only] : [];
}

/** Writes one arm a type, each with the keywords of that type. Annotations stay on the node. */
function splitTypes(node: JsonObject): JsonObject {
  const { type, enum: values } = node;
  if (type === "null" && Array.isArray(values) && values.includes(null)) return pick(node, (key) => key !== "enum");
  if (!Array.isArray(type)) return node;
  const rest = pick(node, (key) => !typedKeywords.has(key));
  const arms = type.flatMap((name) => (typeof name === "string" ? armOf(node, name) : []));
  const [only] = arms;
  // No value is of one of the types and among the values.
  if (only === undefined) return { not: {} };
  return arms.length === 1 ? { ...rest, ...only } : withUnion(rest, arms);
}

function armOf(node: JsonObject, type: string): JsonObject[] {
  const own = keywordsByType[type === "integer" ? "number" : type] ?? [];
  const arm = pick(node, (key) => own.includes(key));
  const { enum: values } = node;
  if (!Array.isArray(values)) return [{ type, ...arm }];
  const fitting = values.filter((value) => isOfType(value, type));
  if (fitting.length === 0) return [];
  return [type === "null" ? { type } : { type, ...arm, enum: fitting }];
}
