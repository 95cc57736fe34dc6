import { SurfaceError } from "../errors.ts";
import { createWalkPath, encodeAny } from "./encode-value.ts";
import { isStandardType } from "./json.ts";
import type { JsonValue } from "./json.ts";
import {
  definitionKeywords,
  isSensitive,
  keywordOrder,
  listKeywords,
  mapKeywords,
  schemaKeywords,
  sensitiveKey,
  standardFormats,
} from "./keywords.ts";
import { bigintSchema, dateSchema, wireKey } from "./wire-forms.ts";

/** A JSON Schema object as a library emitted it, unchecked. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Nodes of a schema, with its references written out, that agents see. Any value fits the rest. */
export const maxSchemaNodes = 10_000;
/** Levels of a schema: deeper than any host renders, and than any argument that the dispatcher accepts. */
export const maxSchemaDepth = 64;

/** Tells whether a value is an object and not an array. */
export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the node for a value that is always absent. A union drops it; elsewhere it accepts anything and says why. */
export function absentNode(): SchemaNode {
  return { description: "Always absent", [wireKey]: "absent" };
}

/** Returns the node for a value without a JSON form: it accepts anything and says why. */
export function formlessNode(what: string): SchemaNode {
  return { description: `Has no JSON form: ${what}` };
}

/** Copies plain JSON data out of an unknown value, or returns undefined. */
export function toJsonData(value: unknown): JsonValue | undefined {
  if (value === undefined || typeof value === "string" || typeof value === "boolean") return value;
  try {
    return encodeAny(value, createWalkPath());
  } catch {
    return undefined;
  }
}

const knownKeywords: ReadonlySet<string> = new Set([...keywordOrder, wireKey, "$ref", "$dynamicRef"]);

// Type names of TypeBox, and not of JSON Schema, for values that JSON does not have.
const foreignTypes: ReadonlyMap<unknown, SchemaNode> = new Map([
  ["Date", dateSchema],
  ["bigint", bigintSchema],
  ["undefined", absentNode()],
  ["void", absentNode()],
]);

// The type of each wire form, and the keyword that goes with it when an author overrides the type.
const typedForms: ReadonlyMap<unknown, { type: string; keyword: string }> = new Map([
  ["date", { type: "string", keyword: "format" }],
  ["bigint", { type: "string", keyword: "pattern" }],
  ["map", { type: "array", keyword: "items" }],
  ["set", { type: "array", keyword: "items" }],
]);

/**
 * Tidies one node without descending. Boolean schemas become objects, draft-07 tuples `prefixItems`, unknown types descriptions.
 * Drops non-standard formats, patterns that do not compile, `$schema`, `$id`, `$defs` and keywords that 2020-12 does not have
 * (except `x-…`). Writes every mark of a secret as `x-sensitive` or `writeOnly`. Leaves schemas below the node and `$ref` as they are.
 */
export function tidyNode(raw: unknown): SchemaNode {
  if (!isNode(raw)) return raw === false ? { not: {} } : {};
  const node: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(modernTuple(raw))) {
    if (!knownKeywords.has(key) && !key.startsWith("x-")) continue;
    const tidied = tidyKeyword(key, value);
    if (tidied !== undefined) node[key] = tidied;
  }
  if (isSensitive(raw) && !isSensitive(node)) node[sensitiveKey] = true;
  return dropAbsentArms(dropStaleForm(withKnownType(node)));
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

// Draft-07 spells a tuple `items: [...]` with `additionalItems`. A closed tuple gets `maxItems`, because a bare `items: false` is
// an error to portability linters and means the same.
function modernTuple(raw: SchemaNode): SchemaNode {
  const tuple = Array.isArray(raw["items"]) ? raw["items"] : raw["prefixItems"];
  if (!Array.isArray(tuple)) return raw;
  const { items, additionalItems, ...rest } = raw;
  const tail = Array.isArray(items) ? additionalItems : items;
  if (tail !== false) return { ...rest, prefixItems: tuple, items: tail };
  const maxItems = typeof raw["maxItems"] === "number" ? Math.min(raw["maxItems"], tuple.length) : tuple.length;
  return { ...rest, prefixItems: tuple, maxItems };
}

function withKnownType(node: Record<string, unknown>): SchemaNode {
  if (node["type"] === undefined || isStandardType(node["type"])) return node;
  const { type, ...rest } = node;
  const names = Array.isArray(type) ? [...new Set<unknown>(type)] : [type];
  const known = names.filter(isStandardType);
  if (known.length > 0) return { ...rest, type: known.length === 1 ? known[0] : known };
  const [name] = names;
  return { ...(typeof name === "string" ? (foreignTypes.get(name) ?? formlessNode(name)) : {}), ...rest };
}

// An author who overrides the type of, say, a date has also chosen its wire form.
function dropStaleForm(node: SchemaNode): SchemaNode {
  const typed = typedForms.get(node[wireKey]);
  if (typed === undefined || node["type"] === typed.type) return node;
  const { [wireKey]: _form, [typed.keyword]: _keyword, ...own } = node;
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

// Clients compile patterns with the flag `u`, and one that fails there fails their whole `tools/list`.
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u").source !== "";
  } catch {
    return false;
  }
}

/** A node, and the resource that `#` means in it: the nearest `$id`, or the root. */
export interface Located {
  readonly node: unknown;
  readonly base: SchemaNode;
}

/** A JSON Schema document, and the targets of its local references. */
export class SchemaDocument {
  readonly root: unknown;
  /** Nodes by `$id` and `#anchor`. Created for the first reference that needs them. */
  #names: ReadonlyMap<string, SchemaNode> | undefined;
  #hasSecrets: boolean | undefined;

  constructor(root: unknown) {
    this.root = root;
  }

  /** The base of references at the root. */
  get base(): SchemaNode {
    return isNode(this.root) ? this.root : {};
  }

  /** Whether a node anywhere in the document marks a secret. */
  get hasSecrets(): boolean {
    return (this.#hasSecrets ??= hasSecretWithin(this.root));
  }

  /**
   * Resolves `#`, `#/pointer`, `#anchor`, and the `$id` of an embedded schema with either fragment.
   *
   * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a reference that is remote or points at nothing.
   */
  resolve(ref: string, base: SchemaNode): Located {
    const [id = "", ...rest] = ref.split("#");
    const resource = id === "" ? base : this.#named(id);
    if (resource === undefined) throw unresolved(ref, "only references inside the schema are supported");
    const node = this.#find(decode(rest.join("#")), resource);
    if (!isNode(node) && typeof node !== "boolean") throw unresolved(ref, "nothing is there");
    return { node, base: resource };
  }

  #find(fragment: string, resource: SchemaNode): unknown {
    if (fragment === "") return resource;
    if (!fragment.startsWith("/")) return this.#named(`#${fragment}`);
    return follow(resource, fragment) ?? follow(this.root, fragment);
  }

  #named(name: string): SchemaNode | undefined {
    return (this.#names ??= indexNames(this.root)).get(name);
  }
}

/** Returns the value that a fragment `/pointer`, percent-encoded, points at; `undefined` if nothing is there. */
export function followFragment(root: unknown, fragment: string): unknown {
  return follow(root, decode(fragment));
}

function follow(root: unknown, pointer: string): unknown {
  let node: unknown = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Reflect.get(node, key);
  }
  return node;
}

/** Maps each `$id` and `#anchor` to its node; the first of a name wins. */
function indexNames(root: unknown): Map<string, SchemaNode> {
  const names = new Map<string, SchemaNode>();
  const visited = new Set<unknown>();
  const queue: unknown[] = [root];
  for (const node of queue) {
    if (!isNode(node) || visited.has(node)) continue;
    visited.add(node);
    addNames(names, node);
    for (const [key, value] of Object.entries(node)) queue.push(...schemasOf(key, value));
  }
  return names;
}

function hasSecretWithin(root: unknown): boolean {
  // References may lead anywhere, so every object counts. Zod's recursive schemas are circles.
  const found = new Set<unknown>([root]);
  for (const part of found) {
    if (typeof part !== "object" || part === null) continue;
    if (isNode(part) && isSensitive(part)) return true;
    for (const below of Object.values(part)) found.add(below);
  }
  return false;
}

function schemasOf(key: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return listKeywords.has(key) || key === "items" ? value : [];
  if (schemaKeywords.has(key)) return [value];
  return (mapKeywords.has(key) || definitionKeywords.has(key)) && isNode(value) ? Object.values(value) : [];
}

function addNames(names: Map<string, SchemaNode>, node: SchemaNode): void {
  const { $id, $anchor, $dynamicAnchor } = node;
  if (typeof $id === "string" && !names.has($id)) names.set($id, node);
  for (const anchor of [$anchor, $dynamicAnchor]) {
    if (typeof anchor === "string" && !names.has(`#${anchor}`)) names.set(`#${anchor}`, node);
  }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function unresolved(ref: string, why: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", `resolve the reference "${ref}": ${why}`);
}
