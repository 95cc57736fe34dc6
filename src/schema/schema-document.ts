import { SurfaceError } from "../errors.ts";
import { definitionKeywords, listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";
import { isNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

/** A node, and the resource that `#` means in it: the nearest `$id`, or the root. */
export interface Located {
  readonly node: unknown;
  readonly base: SchemaNode;
}

/** A JSON Schema document, and the targets of its local references. */
export class SchemaDocument {
  readonly root: unknown;
  /** Nodes by `$id` and `#anchor`. Made when a reference first needs them. */
  #names: ReadonlyMap<string, SchemaNode> | undefined;

  constructor(root: unknown) {
    this.root = root;
  }

  /**
   * Resolves `#`, `#/pointer`, `#anchor`, and the `$id` of an embedded schema with either fragment.
   *
   * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a reference that is remote or points at nothing.
   */
  resolve(ref: string, base: SchemaNode): Located {
    const [id = "", ...rest] = ref.split("#");
    const resource = id === "" ? base : this.#named(id);
    if (resource === undefined) throw refused(ref, "only references inside the schema are supported");
    const node = this.#find(decode(rest.join("#")), resource);
    if (!isNode(node) && typeof node !== "boolean") throw refused(ref, "nothing is there");
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

function refused(ref: string, why: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", `resolve the reference "${ref}": ${why}`);
}
