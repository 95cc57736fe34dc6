import { SurfaceError } from "../../errors.ts";
import { isObject, isRecord } from "../../options/is-object.ts";
import { didYouMean } from "../../options/known-names.ts";
import { invalidOption } from "../../options/read-options.ts";
import { followFragment } from "../../schema/schema-document.ts";
import { clipText, toVisibleJson } from "../../schema/visible-text.ts";
import { textAt } from "../rpc/procedure.ts";

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

/** The start of messages about a document. */
export const doing = "Cannot mount an OpenAPI document";

// `TRACE` is left out: fetch refuses it.
const methods = ["get", "head", "post", "put", "patch", "delete", "options"];
const pathKey = /^([A-Z]+) (\/.*)$/s;
const maxReferences = 32;
const maxShown = 128;
const maxSummaryBytes = 80;

/** Returns an own field of a part of a document; `undefined` if the part is not an object. */
export function partOf(node: unknown, name: string): unknown {
  return isRecord(node) && Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
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
  return unsupported(`the reference ${JSON.stringify(ref.slice(0, maxShown))} ${why}`);
}

/** Returns the target of a reference. @throws SurfaceError `SCHEMA_UNSUPPORTED` for one that leaves the document, or points at nothing. */
export function targetOf(root: object, ref: string): unknown {
  if (!ref.startsWith("#/")) throw unresolved(ref, "leaves the document, and nothing is fetched; bundle the document");
  const found = followFragment(root, ref.slice(1));
  if (found === undefined) throw unresolved(ref, "points at nothing");
  return found;
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

function isHidden({ operation, item }: FoundOperation): boolean {
  return partOf(operation, "x-mcp") === false || partOf(item, "x-mcp") === false;
}

/** A document whose operations can be found. */
export class DocumentReader {
  readonly root: object;
  /** Whether it is of OpenAPI 3.0, whose schemas are another dialect. */
  readonly is30: boolean;
  #byId: ReadonlyMap<string, FoundOperation | "several"> | undefined;

  /** Checks the version only. @throws SurfaceError `INVALID_OPTION`. */
  constructor(document: unknown) {
    const version = textAt(document, "openapi") ?? "";
    if (!isObject(document) || !/^3\.[01](?:\.|$)/.test(version)) {
      const given = version === "" ? "" : `, and its version is ${JSON.stringify(version.slice(0, maxShown))}`;
      throw invalidOption(doing, `the first argument must be a parsed document of OpenAPI 3.0 or 3.1${given}`);
    }
    this.root = document;
    this.is30 = version.startsWith("3.0");
  }

  /** Lists all operations, those that the document hides too. */
  all(): readonly FoundOperation[] {
    // A path item behind a reference is found by method and path only: one that is not exposed may have any fault.
    const items = fieldsIn(partOf(this.root, "paths")).filter(([, item]) => partOf(item, "$ref") === undefined);
    return items.flatMap(([path]) => methods.flatMap((method) => this.#at(path, method) ?? []));
  }

  /** Finds an operation by its `operationId`, or by method and path. @throws SurfaceError `UNKNOWN_MEMBER`, `CONTRADICTION`. */
  find(key: string): FoundOperation {
    const [, method, path] = pathKey.exec(key) ?? [];
    const found = method === undefined ? this.#withId(key) : this.#at(path ?? "", method.toLowerCase());
    if (found === "several") {
      const problem = `"${key}" is the operationId of several operations; write the method and the path of one, as in "GET /pets"`;
      throw invalidOption(doing, problem, "NAME_COLLISION");
    }
    if (found === undefined) throw this.#notFound(key.slice(0, maxShown));
    if (!isHidden(found)) return found;
    throw new SurfaceError("CONTRADICTION", `${doing}: the document hides "${key}" by "x-mcp: false"; leave it out`);
  }

  /** Returns the operationId of an operation; `undefined` if it has none, or shares it. */
  idOf({ operation }: FoundOperation): string | undefined {
    const id = textAt(operation, "operationId");
    return id === undefined || this.#withId(id) === "several" ? undefined : id;
  }

  #at(path: string, method: string): FoundOperation | undefined {
    const item = resolve(this.root, partOf(partOf(this.root, "paths"), path));
    const operation = methods.includes(method) ? partOf(item, method) : undefined;
    if (!path.startsWith("/") || !isRecord(item) || !isRecord(operation)) return undefined;
    return { method: method.toUpperCase(), path, operation, item };
  }

  #withId(id: string): FoundOperation | "several" | undefined {
    if (this.#byId === undefined) {
      const byId = new Map<string, FoundOperation | "several">();
      for (const found of this.all()) {
        const own = textAt(found.operation, "operationId") ?? "";
        byId.set(own, byId.has(own) ? "several" : found);
      }
      this.#byId = byId;
    }
    return id === "" ? undefined : this.#byId.get(id);
  }

  #notFound(key: string): SurfaceError {
    const known = this.all().flatMap((found) => [`${found.method} ${found.path}`, this.idOf(found) ?? ""]);
    const why = key.includes("*")
      ? "; patterns are not supported, since a document that grows would expose more"
      : didYouMean(key, known);
    return invalidOption(doing, `"${key}" is in the map and is no operation of the document${why}`, "UNKNOWN_MEMBER");
  }
}

/**
 * Returns an expose map of all operations of a document as source text, each of them denied: uncomment the lines of those to expose.
 * Operations that the document hides are left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for a value that is not a document of OpenAPI 3.0 or 3.1.
 * @example
 * ```ts
 * console.log(operations(document));
 * ```
 */
export function operations(document: object): string {
  const reader = new DocumentReader(document);
  const shown = reader.all().filter((found) => !isHidden(found));
  const lines = shown.map((found) => {
    const { method, path, operation } = found;
    const [id, summary] = [reader.idOf(found), textAt(operation, "summary")];
    const route = `${method} ${path}`;
    const kind = method === "GET" || method === "HEAD" ? "read" : "write";
    const about = [id === undefined ? undefined : route, summary].filter((part) => part !== undefined).join(": ");
    // JSON with escapes keeps each key on its line, and one line cannot end a comment.
    const comment = about === "" ? "" : ` // ${clipText(about, maxSummaryBytes)}`;
    return `  // ${toVisibleJson(id ?? route)}: "${kind}",${comment}`;
  });
  return ["{", ...lines, "}"].join("\n");
}
