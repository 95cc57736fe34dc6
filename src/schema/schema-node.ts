import { createWalkPath, encodeAny } from "./encode-value.ts";
import type { JsonValue } from "./json.ts";
import { keywordOrder, listKeywords, mapKeywords, schemaKeywords, standardFormats, standardTypes } from "./keywords.ts";
import { bigintSchema, dateSchema, wireKey } from "./wire-forms.ts";

/** A JSON Schema object as some library emitted it: nothing about it is certain yet. */
export type SchemaNode = Readonly<Record<string, unknown>>;

const knownKeywords: ReadonlySet<string> = new Set([...keywordOrder, wireKey, "$ref", "$dynamicRef"]);

// Type names of TypeBox, and not of JSON Schema, for values that JSON does not have.
const foreignTypes: ReadonlyMap<string, SchemaNode> = new Map([
  ["Date", dateSchema],
  ["bigint", bigintSchema],
  ["undefined", absentNode()],
  ["void", absentNode()],
]);

// What each form looks like, so that an overridden one is noticed and leaves nothing behind.
const degradedForms: ReadonlyMap<unknown, { type: string; keyword: string }> = new Map([
  ["date", { type: "string", keyword: "format" }],
  ["bigint", { type: "string", keyword: "pattern" }],
  ["map", { type: "array", keyword: "items" }],
  ["set", { type: "array", keyword: "items" }],
]);

/** Nodes of a schema, with its references written out, that agents are shown. Any value fits the rest. */
export const maxSchemaNodes = 10_000;
/** Levels of a schema: deeper than any host renders, and than any argument that the dispatcher accepts. */
export const maxSchemaDepth = 64;

/** Tells whether a value is an object and not an array. */
export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The node for a value that is never there. A union drops it; elsewhere it accepts anything and says why. */
export function absentNode(): SchemaNode {
  return { description: "Always absent", [wireKey]: "absent" };
}

/** The node for a value without a JSON form: accepts anything and says why. */
export function formlessNode(what: string): SchemaNode {
  return { description: `Has no JSON form: ${what}` };
}

/**
 * Brings one node into the house form without descending: boolean schemas become objects, draft-07 tuples become
 * `prefixItems`, unknown types degrade, non-standard formats and uncompilable patterns go, as do `$schema`, `$id`,
 * `$defs` and keywords that 2020-12 does not have (except `x-…`). Subschemas and `$ref` are left as they are.
 */
export function tidyNode(raw: unknown): SchemaNode {
  if (!isNode(raw)) return raw === false ? { not: {} } : {};
  const node: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(modernTuple(raw))) {
    if (!knownKeywords.has(key) && !key.startsWith("x-")) continue;
    const tidied = tidyKeyword(key, value);
    if (tidied !== undefined) node[key] = tidied;
  }
  return dropAbsentArms(dropStaleMarker(withKnownType(node)));
}

/** Copies plain JSON data out of an unknown value, or returns undefined. */
export function toJsonData(value: unknown): JsonValue | undefined {
  if (typeof value === "string" || typeof value === "boolean") return value;
  try {
    return encodeAny(value, createWalkPath());
  } catch {
    return undefined;
  }
}

function tidyKeyword(key: string, value: unknown): unknown {
  if (schemaKeywords.has(key)) return isNode(value) || typeof value === "boolean" ? value : undefined;
  if (listKeywords.has(key)) return isFilledList(value) ? value : undefined;
  if (mapKeywords.has(key)) return isNode(value) ? compilableKeys(key, value) : undefined;
  return isUsable(key, value) ? toJsonData(value) : undefined;
}

function isUsable(key: string, value: unknown): boolean {
  if (key === "required") return isFilledList(value);
  if (key === "format") return typeof value === "string" && standardFormats.has(value);
  return key !== "pattern" || (typeof value === "string" && isPattern(value));
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

// Draft-07 spells a tuple `items: [...]` with `additionalItems`; a closed 2020-12 tuple says maxItems, because a bare
// `items: false` is an error to portability linters and means the same.
function modernTuple(raw: SchemaNode): SchemaNode {
  const { items, additionalItems, ...rest } = raw;
  const tuple = Array.isArray(items) ? items : raw["prefixItems"];
  if (!Array.isArray(tuple)) return raw;
  const tail = Array.isArray(items) ? additionalItems : items;
  if (tail !== false) return { ...rest, prefixItems: tuple, items: tail };
  const maxItems = typeof raw["maxItems"] === "number" ? Math.min(raw["maxItems"], tuple.length) : tuple.length;
  return { ...rest, prefixItems: tuple, maxItems };
}

function withKnownType(node: Record<string, unknown>): SchemaNode {
  if (node["type"] === undefined || standardTypes.has(node["type"])) return node;
  const { type, ...rest } = node;
  const names = Array.isArray(type) ? [...new Set<unknown>(type)] : [type];
  const known = names.filter((name) => typeof name === "string" && standardTypes.has(name));
  if (known.length > 0) return { ...rest, type: known.length === 1 ? known[0] : known };
  const [name] = names;
  const foreign = typeof name === "string" ? (foreignTypes.get(name) ?? formlessNode(name)) : {};
  return { ...foreign, ...rest };
}

// An author who overrides the type of, say, a date has also chosen its wire form.
function dropStaleMarker(node: SchemaNode): SchemaNode {
  const degraded = degradedForms.get(node[wireKey]);
  if (degraded === undefined || node["type"] === degraded.type) return node;
  const { [wireKey]: _form, [degraded.keyword]: _keyword, ...own } = node;
  return own;
}

function dropAbsentArms(node: SchemaNode): SchemaNode {
  const key = Array.isArray(node["anyOf"]) ? "anyOf" : "oneOf";
  const arms: unknown = node[key];
  if (!Array.isArray(arms)) return node;
  const present: unknown[] = arms.filter((arm) => !(isNode(arm) && isAbsent(arm)));
  if (present.length === arms.length || present.length === 0) return node;
  const { [key]: _, ...rest } = node;
  const [only] = present;
  return present.length === 1 && isNode(only) ? tidyNode({ ...only, ...rest }) : { ...rest, [key]: present };
}

function isAbsent(arm: SchemaNode): boolean {
  return arm[wireKey] === "absent" || arm["type"] === "undefined" || arm["type"] === "void";
}

function compilableKeys(key: string, schemas: SchemaNode): SchemaNode {
  if (key !== "patternProperties") return schemas;
  return Object.fromEntries(Object.entries(schemas).filter(([pattern]) => isPattern(pattern)));
}

// Validators compile patterns with the `u` flag; one that fails there would take down a client's whole tools/list.
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u").source !== "";
  } catch {
    return false;
  }
}
