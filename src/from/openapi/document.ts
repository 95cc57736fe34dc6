import { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { didYouMean } from "../../options/known-names.ts";
import { invalidOption } from "../../options/read-options.ts";

/** An operation as it is in the document. */
export interface FoundOperation {
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The template of its path. */
  readonly path: string;
  readonly operation: object;
  /** The path item, which may have parameters too. */
  readonly item: object;
}

/** A document whose operations can be found. */
export interface DocumentReader {
  readonly root: object;
  /** Whether it is of OpenAPI 3.0, whose schemas are another dialect. */
  readonly is30: boolean;
  /** Lists all operations, those that the document hides too. */
  all(): readonly FoundOperation[];
  /** Finds an operation by its `operationId`, or by method and path. @throws SurfaceError `UNKNOWN_MEMBER`, `CONTRADICTION`. */
  find(key: string): FoundOperation;
}

/** The start of messages about a document. */
export const doing = "Cannot mount an OpenAPI document";

// `TRACE` is left out: fetch refuses it.
const methods = ["get", "head", "post", "put", "patch", "delete", "options"];
const pathKey = /^([A-Z]+) (\/.*)$/s;
const maxReferences = 32;

/** Returns an own field of a part of a document; `undefined` if the part is not an object. */
export function partOf(node: unknown, name: string): unknown {
  return isRecord(node) && Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
}

/** Returns a field that is a filled text; `undefined` for anything else. */
export function textOf(node: unknown, name: string): string | undefined {
  const found = partOf(node, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Returns the fields of a part of a document. None if it is not an object. */
export function fieldsIn(node: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(node) ? Object.entries<unknown>({ ...node }) : [];
}

/** Creates the error for a part of an operation that is not supported. {@link naming} adds the operation. */
export function unsupported(problem: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", problem);
}

/** Reads an operation. @throws SurfaceError the errors of {@link unsupported}, with the operation. */
export function naming<TRead>(key: string, read: () => TRead): TRead {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SurfaceError) || cause.code !== "SCHEMA_UNSUPPORTED") throw cause;
    throw new SurfaceError(cause.code, `Cannot expose operation "${key}": ${cause.message}`, { cause });
  }
}

function unresolved(ref: string, why: string): SurfaceError {
  const shown = JSON.stringify(ref.slice(0, 128));
  return unsupported(`the reference ${shown} ${why}`);
}

/** Returns the target of a reference. @throws SurfaceError `SCHEMA_UNSUPPORTED` for one that leaves the document, or points at nothing. */
export function targetOf(root: object, ref: string): unknown {
  if (!ref.startsWith("#/")) throw unresolved(ref, "leaves the document, and nothing is fetched; bundle the document");
  let node: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    let name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    try {
      name = decodeURIComponent(name);
    } catch {
      // A name with a bare "%", as it stands in the document.
    }
    node = Array.isArray(node) && Object.hasOwn(node, name) ? Reflect.get(node, name) : partOf(node, name);
  }
  if (node === undefined) throw unresolved(ref, "points at nothing");
  return node;
}

/** Follows the references of a part of a document. @throws SurfaceError `SCHEMA_UNSUPPORTED`, also for a circle. */
export function resolve(root: object, node: unknown): unknown {
  let found = node;
  for (let count = 0; count < maxReferences; count += 1) {
    const ref = partOf(found, "$ref");
    if (typeof ref !== "string") return found;
    found = targetOf(root, ref);
  }
  throw unresolved(String(partOf(node, "$ref")), "points at itself");
}

function versionOf(document: unknown): string {
  const version = textOf(document, "openapi") ?? "";
  if (isRecord(document) && /^3\.[01](?:\.|$)/.test(version)) return version;
  const given = version === "" ? "" : `, and its version is ${JSON.stringify(version.slice(0, 16))}`;
  throw invalidOption(doing, `the first argument must be a parsed document of OpenAPI 3.0 or 3.1${given}`);
}

/** Refuses an operation that the document hides from agents. */
function assertShown(key: string, { operation, item }: FoundOperation): void {
  if (partOf(operation, "x-mcp") !== false && partOf(item, "x-mcp") !== false) return;
  throw new SurfaceError("CONTRADICTION", `${doing}: the document hides "${key}" by "x-mcp: false"; leave it out`);
}

function groupById(all: readonly FoundOperation[]): ReadonlyMap<string, readonly FoundOperation[]> {
  const groups = new Map<string, FoundOperation[]>();
  for (const found of all) {
    const id = textOf(found.operation, "operationId");
    if (id === undefined) continue;
    const group = groups.get(id) ?? [];
    groups.set(id, group);
    group.push(found);
  }
  return groups;
}

class Reader implements DocumentReader {
  readonly root: object;
  readonly is30: boolean;
  readonly #paths: unknown;
  #byId: ReadonlyMap<string, readonly FoundOperation[]> | undefined;

  constructor(document: object, version: string) {
    this.root = document;
    this.is30 = version.startsWith("3.0");
    this.#paths = partOf(document, "paths");
  }

  all(): readonly FoundOperation[] {
    // A path item behind a reference is found by method and path only: one that is not exposed may have any fault.
    const items = fieldsIn(this.#paths).filter(([, item]) => partOf(item, "$ref") === undefined);
    return items.flatMap(([path]) => methods.flatMap((method) => this.#at(path, method) ?? []));
  }

  find(key: string): FoundOperation {
    const [, method, path] = pathKey.exec(key) ?? [];
    const found = method === undefined ? this.#named(key) : this.#at(path ?? "", method.toLowerCase());
    if (found === undefined) throw this.#notFound(key);
    assertShown(key, found);
    return found;
  }

  #at(path: string, method: string): FoundOperation | undefined {
    const item = resolve(this.root, partOf(this.#paths, path));
    const operation = methods.includes(method) ? partOf(item, method) : undefined;
    if (!path.startsWith("/") || !isRecord(item) || !isRecord(operation)) return undefined;
    return { method: method.toUpperCase(), path, operation, item };
  }

  #named(id: string): FoundOperation | undefined {
    this.#byId ??= groupById(this.all());
    const [found, other] = this.#byId.get(id) ?? [];
    if (other === undefined) return found;
    const problem = `"${id}" is the operationId of two operations; write the method and the path, such as "${found?.method} ${found?.path}"`;
    throw invalidOption(doing, problem, "NAME_COLLISION");
  }

  #notFound(key: string): SurfaceError {
    const shown = key.slice(0, 128);
    const why = key.includes("*") ? "; patterns are not supported, since a document that grows would expose more" : "";
    const known = this.all().flatMap(({ method, path, operation }) => [
      `${method} ${path}`,
      textOf(operation, "operationId") ?? "",
    ]);
    const near = why === "" ? didYouMean(shown, known) : why;
    return invalidOption(
      doing,
      `"${shown}" is in the map and is no operation of the document${near}`,
      "UNKNOWN_MEMBER",
    );
  }
}

/** Reads a document. Only its version is checked. @throws SurfaceError `INVALID_OPTION`. */
export function readDocument(document: object): DocumentReader {
  return new Reader(document, versionOf(document));
}
