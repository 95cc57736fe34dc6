import { isFunction, isObject, isRecord } from "../../options/is-object.ts";
import { flag, oneOf, option, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import { SurfaceError } from "../../errors.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import type { JsonSchema } from "../../schema/json.ts";
import { isInvalidSchema, isSchema, type Schema } from "../../schema/standard.ts";
import { mimeTypeOption } from "../../tags/display-metadata.ts";
import { assertNoContradiction, toolFields } from "../../tags/read-tag-options.ts";
import { scopeFields, scopeFieldsWithoutArgument, scopeList } from "../../tags/scopes.ts";
import { canCall } from "../custom/bespoke-tool.ts";
import type { OwnSchemas, ToolEntry, ToolInput, ToolOutput } from "../entry.ts";
import { decodeSegment } from "../resolve-uri.ts";
import { compileOutput, toToolInput, toToolOutput } from "../tool-schemas.ts";
import { toWireName } from "../wire-name.ts";
import {
  mountedResourceOrigin,
  operationOrigin,
  type MountedOperation,
  type MountedResource,
  type MountedSchema,
} from "./mount.ts";

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
  return (isRecord(value) || isFunction(value)) && !isInvalidSchema(value);
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
  canCall,
  callScopes: scopeList,
  ...scopeFields,
};

const resourceFields: OptionFields<MountedResource> = {
  path: text,
  title: text,
  description: text,
  mimeType: mimeTypeOption,
  ...scopeFieldsWithoutArgument,
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

/**
 * Checks an operation of a registry or a source, and returns a frozen copy. Its schemas are checked on conversion.
 *
 * @param verb - the action on the operation, the start of messages.
 * @param prefix - put before the name in messages. @default ""
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`, `CONTRADICTION`.
 */
export function readOperation(given: unknown, verb: string, prefix = ""): MountedOperation {
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

/** Checks a resource of a source, and returns a frozen copy. @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`. */
export function readResource(given: unknown, prefix: string): MountedResource {
  if (!isRecord(given)) throw invalidOption("Cannot mount a resource", "it must be an object");
  // Every field is checked below.
  const resource = snapshot(given, resourceFields) as MountedResource;
  const path: unknown = resource.path;
  if (typeof path !== "string") throw invalidOption("Cannot mount a resource", '"path" must be a text');
  const attempt = `Cannot mount ${mountedResourceOrigin(prefix, path)}`;
  const isSegment = (part: string): boolean => segmentPattern.test(part) && decodeSegment(part) !== undefined;
  if (path.length > maxPathLength || !path.split("/").every(isSegment)) {
    const must = `"path" must be segments joined by "/", percent-encoded where necessary, at most ${maxPathLength} characters`;
    throw new SurfaceError("INVALID_NAME", `${attempt}: ${must}`);
  }
  readOptions(resource, resourceFields, attempt);
  return resource;
}

/** The converted schemas of a mounted operation. */
export interface MountedSchemas {
  readonly owner: OwnSchemas;
  readonly input: ToolInput;
  readonly output: ToolOutput;
  /** The schemas of the details of declared codes. */
  readonly details: Readonly<Record<string, Schema>>;
  /** The same as JSON Schemas, for agents; `undefined` if no code is declared. */
  readonly errors: Readonly<Record<string, JsonSchema>> | undefined;
}

function toSchema(given: MountedSchema): Schema {
  return isSchema(given) ? given : fromJsonSchema(given);
}

/** Returns the characters of JSON that an operation's schemas hold: as they were given, and as agents see them. */
export function schemaLength(
  { inputSchema, outputSchema, errorSchemas = {} }: MountedOperation,
  { input, output, errors }: Pick<ToolEntry, "input" | "output" | "errors">,
): number {
  const given = [inputSchema, outputSchema, ...Object.values(errorSchemas)];
  const documents = given.filter((one) => one !== undefined && !isSchema(one));
  return JSON.stringify([documents, input.json, output.json, errors]).length;
}

/**
 * Converts the schemas of an operation. Each is converted once, however often it is read.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the operation.
 */
export function toMountedSchemas(operation: MountedOperation, origin: string): MountedSchemas {
  const { inputSchema, outputSchema, errorSchemas = {} } = operation;
  const input = inputSchema === undefined ? undefined : toSchema(inputSchema);
  const output = outputSchema === undefined ? undefined : toSchema(outputSchema);
  const details = Object.entries(errorSchemas).map(([code, one]) => [code, toSchema(one)] as const);
  const errors = details.map(
    ([code, one]) => [code, compileOutput(one, `code "${code}" of ${origin}`).bare.json] as const,
  );
  return {
    owner: Object.freeze({ input, output }),
    input: toToolInput(input, origin),
    output: Object.freeze({ rich: "may", ...toToolOutput(output, origin) }),
    details: Object.fromEntries(details),
    errors: errors.length === 0 ? undefined : Object.freeze(Object.fromEntries(errors)),
  };
}
