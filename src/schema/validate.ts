import type { StandardSchemaV1 } from "@standard-schema/spec";
import type * as z from "zod";
import type { Issue } from "../errors.ts";
import { createIssue, maxIssues } from "./render-issues.ts";
import { standardOf } from "./standard.ts";
import type { Schema } from "./standard.ts";
import { isZodSchema, zodInternals } from "./zod-schema.ts";

/** The outcome of {@link validate}: the parsed value, or at most 5 bounded issues. */
export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Validates a value by a schema. Returns a promise only if the schema does, so that callers on the hot path test for one instead of
 * always awaiting.
 *
 * Returns at most 5 issues, without control characters, which render to under 2 KiB. Throws what the validator itself throws (or
 * rejects with): that is a fault of the schema, not of the value, and the caller masks it.
 */
export function validate(schema: Schema, value: unknown): Validated | Promise<Validated> {
  return run(schema, value, toValidated);
}

/** Validates a value that came as JSON. The issues name the wire form, so "an ISO 8601 date-time string" for a date. */
export function validateInput(schema: Schema, value: unknown): Validated | Promise<Validated> {
  return run(schema, value, toValidatedInput);
}

type Result = StandardSchemaV1.Result<unknown>;

/** The `~standard` of zod schemas that have accepted a value without an asynchronous check. */
const synchronous = new WeakMap<Schema, StandardSchemaV1.Props>();

function run(schema: Schema, value: unknown, read: (result: Result) => Validated): Validated | Promise<Validated> {
  const known = synchronous.get(schema);
  const result = known === undefined ? runUnknown(schema, value) : known.validate(value);
  // Also a promise of another library or realm: read as a result, it would accept the value without validation.
  return "then" in result ? Promise.resolve(result).then(read) : read(result);
}

function toValidated(result: Result, reword: (message: string) => string = String): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = result.issues.slice(0, maxIssues).map((issue) => {
    return createIssue(keysOf(issue), reword(describeUnion(issue) ?? issue.message));
  });
  return { ok: false, issues };
}

function toValidatedInput(result: Result): Validated {
  return toValidated(result, rewordForWire);
}

function keysOf({ path = [] }: StandardSchemaV1.Issue): readonly PropertyKey[] {
  return path.map((segment) => (typeof segment === "object" ? segment.key : segment));
}

const maxOptions = 4;
// Each level multiplies by maxOptions, so a recursive union must not be followed down.
const maxLevels = 2;

/**
 * Describes why no option of a union fits. The message of zod is only "Invalid input", and a non-standard `errors` list holds one
 * list of issues an option. Returns undefined for an issue without it, whose own message is better.
 */
function describeUnion(issue: StandardSchemaV1.Issue, level = 1): string | undefined {
  const errors = optionErrors(issue);
  if (errors.length === 0 || level > maxLevels) return undefined;
  const reasons = errors.slice(0, maxOptions).map((option) => describeOption(option, level));
  const rest = errors.length > maxOptions ? `; and ${errors.length - maxOptions} more options` : "";
  return `no option fits: ${[...new Set(reasons)].join("; or ")}${rest}`;
}

function describeOption(option: unknown, level: number): string {
  const first: unknown = Array.isArray(option) ? option[0] : undefined;
  if (!isIssue(first)) return "invalid";
  const path = keysOf(first).map(String);
  const message = describeUnion(first, level + 1) ?? first.message;
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

function optionErrors(issue: object): readonly unknown[] {
  const errors: unknown = "errors" in issue ? issue.errors : undefined;
  return Array.isArray(errors) ? errors : [];
}

function isIssue(value: unknown): value is StandardSchemaV1.Issue {
  return typeof value === "object" && value !== null && "message" in value;
}

const wireNames: ReadonlyMap<string, string> = new Map([
  ["date", "an ISO 8601 date-time string"],
  ["bigint", "an integer as a decimal string"],
  ["map", "an array of [key, value] pairs"],
  ["set", "an array"],
]);

// The messages of zod, valibot and arktype about a value of another type. "received string" is wrong on the wire, where a date is
// a string.
const typeRegExp =
  /\b(expected|must be) (?:an? )?(date|bigint|map|set)(?:, received string|(?=, received| but received| \(was))/gi;

/** Names the wire form in a message: a caller who sent JSON cannot send a date, and has a schema that asks for a string. */
export function rewordForWire(message: string): string {
  return message.replaceAll(typeRegExp, (found, verb: string, type: string) => {
    const form = wireNames.get(type.toLowerCase());
    return form === undefined ? found : `${verb} ${form}`;
  });
}

/**
 * Returns the result of a run with the messages of the zod copy that made the schema, with its locale and error maps. A schema of the
 * same class, whose run returns the payload, writes them.
 */
function toResult(schema: z.core.$ZodType, payload: z.core.ParsePayload): Result | Promise<Result> {
  if (payload.issues.length === 0) return { value: payload.value };
  const { constr: Schema, def } = zodInternals(schema);
  const carrier = new Schema(def);
  zodInternals(carrier).run = () => payload;
  return carrier["~standard"].validate(payload.value);
}

/** Runs a zod schema once, whether or not it has asynchronous parts. */
function runOnce(schema: z.core.$ZodType, value: unknown): Result | Promise<Result> {
  const running = zodInternals(schema).run({ value, issues: [] }, { async: true });
  if (!(running instanceof Promise)) return toResult(schema, running);
  return running.then((payload) => toResult(schema, payload));
}

/**
 * Runs a schema that is not known to be synchronous: each of its checks once.
 *
 * zod's own `~standard.validate` first runs without asynchronous checks. When it meets one, it drops the promise of that check and
 * starts again. A check with effects then has them twice, and one that rejects is an unhandled rejection, which ends the process. So
 * the first run of a schema allows asynchronous checks, and later runs use `~standard.validate` if there were none.
 */
function runUnknown(schema: Schema, value: unknown): Result | Promise<Result> {
  if (!isZodSchema(schema)) return standardOf(schema).validate(value);
  const result = runOnce(schema, value);
  // Only an accepted value has passed every check.
  if (!(result instanceof Promise) && result.issues === undefined) synchronous.set(schema, standardOf(schema));
  return result;
}
