import { isFunction, isObject, isRecord } from "../../options/is-object.ts";
import { flag, oneOf, option, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import { SurfaceError } from "../../errors.ts";
import { isBrokenSchema } from "../../schema/standard.ts";
import { mimeTypeOption } from "../../tags/looks.ts";
import { assertNoContradiction, toolFields } from "../../tags/read-tag-options.ts";
import { accessFields, accessFieldsWithoutArgument, scopeList } from "../../tags/scopes.ts";
import { reach } from "../custom/entry-fields.ts";
import { isClimbing } from "../uri-syntax.ts";
import type { MountedOperation, MountedResource } from "./mount.ts";
import { mountedResourceOrigin, operationOrigin } from "./mounted-names.ts";
import { toWireName } from "../wire-name.ts";

const maxTags = 64;
const maxTagLength = 64;
const maxCodeLength = 64;
const maxNameLength = 64;
const maxPathLength = 512;

/** One more than any list may hold, so that a list that was cut here is refused. */
const maxKept = 1025;

function areTags(tags: unknown): boolean {
  if (!Array.isArray(tags) || tags.length > maxTags) return false;
  return tags.every((tag) => typeof tag === "string" && tag !== "" && tag.length <= maxTagLength);
}

/** Schemas of some libraries are functions. The content of a JSON Schema is checked on conversion. */
function mayBeSchema(value: unknown): boolean {
  return (isRecord(value) || isFunction(value)) && !isBrokenSchema(value);
}

function areSchemas(errors: unknown): boolean {
  if (!isRecord(errors)) return false;
  return Object.entries(errors).every(([code, one]) => code !== "" && code.length <= maxCodeLength && mayBeSchema(one));
}

const schema = option("a Standard Schema or a JSON Schema", mayBeSchema);

const operationFields: OptionFields<MountedOperation> = {
  name: text,
  type: oneOf("query", "mutation", "subscription"),
  version: text,
  title: text,
  description: text,
  tags: option(`at most ${maxTags} texts, each 1 to ${maxTagLength} characters`, areTags),
  inputSchema: schema,
  outputSchema: schema,
  errorSchemas: option(`schemas by code, each code 1 to ${maxCodeLength} characters`, areSchemas),
  visibility: oneOf("external", "internal"),
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
  timeoutMs: toolFields.timeoutMs,
  confirm: toolFields.confirm,
  reach,
  authority: scopeList,
  ...accessFields,
};

const resourceFields: OptionFields<MountedResource> = {
  path: text,
  title: text,
  description: text,
  mimeType: mimeTypeOption,
  ...accessFieldsWithoutArgument,
};

/** Copies a list or an object, frozen. The copy of a list has `undefined` for a hole, which is then refused. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(Array.from<unknown>(value.slice(0, maxKept)));
  return isObject(value) ? Object.freeze({ ...value }) : value;
}

/**
 * Returns a frozen copy whose fields were read once, so that its author cannot change it after it was checked. A schema is kept as it is:
 * it is known by its identity. One unknown field is kept, and refused later.
 */
function snapshot(given: object, fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    const value: unknown = Reflect.get(given, key);
    if (value !== undefined) kept[key] = field === schema ? value : copyOf(value);
  }
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(fields, key));
  if (unknown !== undefined) kept[unknown] = true;
  return Object.freeze(kept);
}

/** The action on an operation, for messages. */
interface Attempt {
  readonly verb: string;
  /** The prefix of its name in messages. */
  readonly prefix?: string;
}

/**
 * Checks an operation of a registry or of a source, which may have cast, and returns a frozen copy. Its schemas are checked on conversion.
 *
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`, `CONTRADICTION`.
 */
export function readOperation(given: unknown, { verb, prefix = "" }: Attempt): MountedOperation {
  if (!isRecord(given)) throw invalidOption(`${verb} an operation`, "it must be an object");
  // Every field is checked below.
  const operation = snapshot(given, operationFields) as MountedOperation;
  const name: unknown = operation.name;
  if (typeof name !== "string") throw invalidOption(`${verb} an operation`, '"name" must be a text');
  const origin = operationOrigin(`${prefix}${name.slice(0, maxNameLength)}`);
  toWireName(name, { origin, allowDash: true });
  const { destructive, type } = readOptions(operation, operationFields, `${verb} ${origin}`);
  assertNoContradiction(
    { mutates: type !== "query", ...(destructive === undefined ? {} : { destructive }) },
    `${verb} ${origin}`,
  );
  return operation;
}

// RFC 3986's pchar: other characters must be encoded.
const segmentPattern = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;

// oxlint-disable-next-line no-control-regex -- control characters are what it is for
const control = /[\u0000-\u001f\u007f-\u009f]/;

function isSegment(segment: string): boolean {
  if (!segmentPattern.test(segment)) return false;
  try {
    const decoded = decodeURIComponent(segment);
    return decoded !== "." && !control.test(decoded) && !isClimbing(decoded);
  } catch {
    return false;
  }
}

/** Checks a resource of a source, which may have cast, and returns a frozen copy. @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`. */
export function readResource(given: unknown, prefix: string): MountedResource {
  if (!isRecord(given)) throw invalidOption("Mounting a resource", "it must be an object");
  // Every field is checked below.
  const resource = snapshot(given, resourceFields) as MountedResource;
  const path: unknown = resource.path;
  if (typeof path !== "string") throw invalidOption("Mounting a resource", '"path" must be a text');
  const attempt = `Mounting ${mountedResourceOrigin(prefix, path)}`;
  if (path.length > maxPathLength || !path.split("/").every(isSegment)) {
    const must = `"path" must be segments joined by "/", encoded where they have to be, at most ${maxPathLength} characters`;
    throw new SurfaceError("INVALID_NAME", `${attempt}: ${must}`);
  }
  readOptions(resource, resourceFields, attempt);
  return resource;
}
