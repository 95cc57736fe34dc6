import { compareJson, isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { compareKeywords, copySchemas, isAnnotation } from "./keywords.ts";
import { openMembers } from "./normalise.ts";
import { isNode, maxSchemaDepth, maxSchemaNodes, tidyNode } from "./schema-document.ts";
import type { SchemaDocument, SchemaNode } from "./schema-document.ts";
import { wireKey } from "./wire-forms.ts";

/** At the root of a shape: the value may be left out. */
export const optionalKey = "x-optional";

// References are written out. Encodings say how to show a value, and refuse none.
const omittedKeywords: ReadonlySet<string> = new Set([
  ...["contentEncoding", "contentMediaType", "contentSchema", "$ref", "$dynamicRef"],
]);
const unorderedKeywords: ReadonlySet<string> = new Set(["type", "enum", "required"]);

interface Walk {
  readonly document: SchemaDocument;
  readonly isPooled: boolean;
  readonly path: string[];
  /** The length of the path to each node that is being written. */
  readonly active: Map<unknown, number>;
  nodes: number;
}

/**
 * Returns the schema by which the reader of a link checks values: the normalised schema without annotations. Unlike the one for
 * agents it keeps wire forms, and recursion as a `$ref` by JSON Pointer to the place where it began. `oneOf` becomes `anyOf`: a
 * reader accepts two fitting arms, and libraries change from one to the other. Canonical up to the order of keys, without the
 * names that a library gave to its definitions.
 */
export function toReaderSchema(document: SchemaDocument, options: { readonly isPooled: boolean }): JsonObject {
  const walk: Walk = { document, isPooled: options.isPooled, path: [], active: new Map(), nodes: 0 };
  return inline(walk, document.root, document.base);
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
  return walk.isPooled ? openMembers(copy) : copy;
}

function inlineNode(walk: Walk, node: SchemaNode, base: SchemaNode): JsonObject {
  const ref = node["$ref"] ?? node["$dynamicRef"];
  if (typeof ref !== "string") return copyNode(walk, node, base);
  const target = walk.document.resolve(ref, base);
  if (!Object.keys(node).some(isConstraint)) return inline(walk, target.node, target.base);
  // Not merged into one node, as for agents: other references to the target must not meet the constraints beside this one.
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
    const value = node[key];
    copy[key] = within(walk, [key], () => {
      const schemas = copySchemas({ key, value }, (schema, step) =>
        within(walk, step === undefined ? [] : [String(step)], () => inline(walk, schema, base)),
      );
      // tidyNode lets only JSON through under the other keywords; a copy, since the result is frozen.
      return schemas ?? ((typeof value === "object" ? structuredClone(value) : value) as JsonValue);
    });
  }
  return copy;
}

function within<$Made>(walk: Walk, steps: readonly string[], make: () => $Made): $Made {
  walk.path.push(...steps);
  const made = make();
  walk.path.length -= steps.length;
  return made;
}

function isConstraint(key: string): boolean {
  return !omittedKeywords.has(key) && !isAnnotation(key);
}

function inclusive(node: SchemaNode): SchemaNode {
  const { oneOf, ...rest } = node;
  return oneOf === undefined || node["anyOf"] !== undefined ? node : { ...rest, anyOf: oneOf };
}

/** Writes a JSON Pointer as a reference. "%" begins an escape of a URI. */
export function toPointer(path: readonly string[]): string {
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
    else if (unorderedKeywords.has(key) && Array.isArray(value)) copy[key] = value.toSorted(compareJson);
    // The reader's schema is JSON, and so are its parts.
    else copy[key] = copySchemas({ key, value }, (part) => toPartShape(part as JsonValue)) ?? value;
  }
  return copy;
}

function toPartShape(value: JsonValue): JsonValue {
  return isJsonObject(value) ? toShape(value) : value;
}
