import { isFunction, isRecord } from "../options/is-object.ts";
import { flag, oneOf, option, text, type OptionFields } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import { isBrokenSchema } from "../schema/standard.ts";
import { assertNoContradiction, toolFields } from "../tags/read-tag-options.ts";
import { accessFields, scopeList } from "../tags/scopes.ts";
import { reach } from "./entry-fields.ts";
import type { MountedOperation } from "./mount.ts";
import { operationOrigin } from "./operation-origin.ts";
import { toWireName } from "./wire-name.ts";

/** The action on an operation, the start of messages. */
interface Attempt {
  readonly verb: string;
  /** The prefix of its name in messages. */
  readonly prefix?: string;
}

const maxTags = 64;
const maxTagLength = 64;
const maxCodeLength = 64;
const maxNameLength = 64;

function areTags(tags: unknown): boolean {
  if (!Array.isArray(tags) || tags.length > maxTags) return false;
  // A copy, in which a hole is checked too.
  return Array.from<unknown>(tags).every((tag) => typeof tag === "string" && tag !== "" && tag.length <= maxTagLength);
}

/** Returns true for a possible schema. Those of some libraries are functions. The content of a JSON Schema is checked on conversion. */
function mayBeSchema(value: unknown): boolean {
  return (isRecord(value) || isFunction(value)) && !isBrokenSchema(value);
}

function areSchemas(errors: unknown): boolean {
  if (!isRecord(errors)) return false;
  return Object.entries(errors).every(([code, one]) => code !== "" && code.length <= maxCodeLength && mayBeSchema(one));
}

const anySchema = option("a Standard Schema or a JSON Schema", mayBeSchema);

const fields: OptionFields<MountedOperation> = {
  name: text,
  type: oneOf("query", "mutation", "subscription"),
  version: text,
  title: text,
  description: text,
  tags: option(`at most ${maxTags} texts, each 1 to ${maxTagLength} characters`, areTags),
  inputSchema: anySchema,
  outputSchema: anySchema,
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

/**
 * Refuses an operation that the compiler would have refused, for sources that cast or come from somewhere else: what
 * `keepOperation()` gave, since it is read again. Its schemas are looked at where they are converted.
 *
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`, `CONTRADICTION`.
 */
export function assertOperation(operation: unknown, at: Attempt): asserts operation is MountedOperation {
  const { verb, prefix = "" } = at;
  if (!isRecord(operation)) throw invalidOption(`${verb} an operation`, "it must be an object");
  // It is one, and every field is checked below.
  const given = operation as MountedOperation;
  const name: unknown = given.name;
  if (typeof name !== "string") throw invalidOption(`${verb} an operation`, '"name" must be a text');
  const origin = operationOrigin(`${prefix}${name.slice(0, maxNameLength)}`);
  toWireName(name, { origin, allowDash: true });
  const { destructive, type } = readOptions(given, fields, `${verb} ${origin}`);
  assertNoContradiction(
    { mutates: type !== "query", ...(destructive === undefined ? {} : { destructive }) },
    `${verb} ${origin}`,
  );
}
