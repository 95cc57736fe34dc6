import { SurfaceError } from "../errors.ts";
import { isBrokenSchema } from "../schema/standard.ts";
import { assertToolOptions } from "../tags/check-options.ts";
import { assertScopes } from "../tags/scopes.ts";
import { unknownKeyOf } from "./keep-operation.ts";
import type { MountedOperation } from "./mount.ts";
import { operationOrigin } from "./operation-origin.ts";
import { toWireName } from "./wire-name.ts";

/** What somebody is doing with an operation, as messages begin. */
interface Attempt {
  readonly verb: string;
  /** What its name is said with. */
  readonly prefix?: string;
}

const maxTags = 64;
const maxTagLength = 64;
const maxPatterns = 1024;
const maxPatternLength = 256;
const maxCodeLength = 64;
const maxNameLength = 64;

const types: ReadonlySet<unknown> = new Set([undefined, "query", "mutation", "subscription"]);
const visibilities: ReadonlySet<unknown> = new Set([undefined, "external", "internal"]);
const words = ["version", "title", "description"] as const;

function fail(attempt: string, problem: string): never {
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${problem}`);
}

function areTexts(list: unknown, most: { readonly count: number; readonly length: number }): boolean {
  if (list === undefined) return true;
  if (!Array.isArray(list) || list.length > most.count) return false;
  const items: readonly unknown[] = list;
  // A copy, in which a hole is looked at too.
  return Array.from(items).every((item) => typeof item === "string" && item !== "" && item.length <= most.length);
}

function checkWords(operation: MountedOperation, attempt: string): void {
  // A key that nobody knows may be one that was to keep somebody out.
  const unknown = unknownKeyOf(operation);
  if (unknown !== undefined) fail(attempt, `"${unknown.slice(0, maxCodeLength)}" is nothing that an operation has`);
  for (const word of words) {
    const text: unknown = operation[word];
    if (text !== undefined && typeof text !== "string") fail(attempt, `"${word}" must be a text`);
  }
  if (!types.has(operation.type)) fail(attempt, '"type" must be "query", "mutation" or "subscription"');
  if (!visibilities.has(operation.visibility)) fail(attempt, '"visibility" must be "external" or "internal"');
}

function checkLists({ tags, reach, authority }: MountedOperation, attempt: string): void {
  if (!areTexts(tags, { count: maxTags, length: maxTagLength })) {
    fail(attempt, `"tags" must be at most ${maxTags} texts, each 1 to ${maxTagLength} characters`);
  }
  if (!areTexts(reach, { count: maxPatterns, length: maxPatternLength })) {
    fail(attempt, `"reach" must be at most ${maxPatterns} patterns, each 1 to ${maxPatternLength} characters`);
  }
  assertScopes(authority, attempt, "authority");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value may be a schema. Those of some libraries are functions. What a JSON Schema holds is checked on conversion. */
function mayBeSchema(value: unknown): boolean {
  return (isObject(value) || typeof value === "function") && !isBrokenSchema(value);
}

function checkSchemas(operation: MountedOperation, attempt: string): void {
  for (const side of ["inputSchema", "outputSchema"] as const) {
    const schema: unknown = operation[side];
    if (schema === undefined || mayBeSchema(schema)) continue;
    fail(attempt, `"${side}" must be a Standard Schema or a JSON Schema`);
  }
  const errors: unknown = operation.errorSchemas;
  if (errors === undefined) return;
  const codes = typeof errors === "object" && errors !== null ? Object.entries(errors) : [];
  const fit = codes.every(([code, schema]) => {
    return code !== "" && code.length <= maxCodeLength && mayBeSchema(schema);
  });
  if (!isObject(errors) || !fit) {
    fail(attempt, `"errorSchemas" must be schemas by code, each code 1 to ${maxCodeLength} characters`);
  }
}

/**
 * Refuses an operation that the compiler would have refused, for sources that cast or come from somewhere else: what
 * `keepOperation()` gave, since it is read again. Its schemas are looked at where they are converted.
 *
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`, `CONTRADICTION`.
 */
export function assertOperation(operation: unknown, at: Attempt): asserts operation is MountedOperation {
  const { verb, prefix = "" } = at;
  if (!isObject(operation)) fail(`${verb} an operation`, "it must be an object");
  // It is one, and everything that is read of it is looked at.
  const given = operation as MountedOperation;
  const name: unknown = given.name;
  if (typeof name !== "string") fail(`${verb} an operation`, '"name" must be a text');
  const origin = operationOrigin(`${prefix}${name.slice(0, maxNameLength)}`);
  toWireName(name, { origin, allowDash: true });
  assertWords(given, `${verb} ${origin}`);
}

function assertWords(operation: MountedOperation, attempt: string): void {
  checkWords(operation, attempt);
  checkLists(operation, attempt);
  checkSchemas(operation, attempt);
  const { type, title, description, timeoutMs, scopes, scopesAny, resource } = operation;
  const { destructive, idempotent, openWorld, confirm } = operation;
  const hints = { mutates: type !== "query", destructive, idempotent, openWorld };
  const options = { ...hints, title, description, timeoutMs, confirm, scopes, scopesAny, resource };
  const said = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  assertToolOptions(said, attempt);
}
