import { SurfaceError } from "../errors.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";
import { isNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

/** A node together with the resource (the nearest `$id`, or the root) that its `#` means. */
export interface Located {
  readonly node: unknown;
  readonly base: SchemaNode;
}

/** Finds what local references point at, in one document. */
export interface SchemaDocument {
  readonly root: unknown;
  /**
   * Resolves `#`, `#/pointer`, `#anchor`, and the `$id` of an embedded schema with either fragment.
   *
   * @throws SurfaceError `SCHEMA_UNSUPPORTED` when the reference is remote or points at nothing.
   */
  resolve(ref: string, base: SchemaNode): Located;
}

/** Wraps a document. Its names are indexed when a reference first needs them. */
export function createSchemaDocument(root: unknown): SchemaDocument {
  let names: ReadonlyMap<string, SchemaNode> | undefined;
  const named = (name: string): SchemaNode | undefined => (names ??= indexNames(root)).get(name);
  return {
    root,
    resolve: (ref, base) => {
      const [id = "", ...rest] = ref.split("#");
      const fragment = decode(rest.join("#"));
      const resource = id === "" ? base : named(id);
      if (resource === undefined) throw refused(ref, "only references inside the schema are supported");
      const found = fragment === "" ? resource : findFragment(fragment);
      if (!isNode(found) && typeof found !== "boolean") throw refused(ref, "nothing is there");
      return { node: found, base: resource };

      function findFragment(text: string): unknown {
        if (!text.startsWith("/")) return named(`#${text}`);
        return follow(resource, text) ?? follow(root, text);
      }
    },
  };
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
    for (const [key, value] of Object.entries(node)) queue.push(...subschemas(key, value));
  }
  return names;
}

function subschemas(key: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return listKeywords.has(key) || key === "items" ? value : [];
  if (schemaKeywords.has(key)) return [value];
  const isMap = mapKeywords.has(key) || key === "$defs" || key === "definitions";
  return isMap && isNode(value) ? Object.values(value) : [];
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

function refused(ref: string, why: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", `resolve the reference "${ref}": ${why}`);
}
