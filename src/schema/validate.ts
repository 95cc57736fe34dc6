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
 * Runs a schema over a value. The answer is synchronous exactly when the schema's own is, so callers on the hot path
 * test for a promise instead of always awaiting.
 *
 * Issues are at most 5, without control characters, and render to under 2 KiB. An exception of the validator itself
 * (or a rejection) is passed on as it is: it is a fault of the schema, not of the value, and the caller masks it.
 */
export function validate(schema: Schema, value: unknown): Validated | Promise<Validated> {
  return run(schema, value, toValidated);
}

/** The same for a value that came as JSON: the issues name what travels, so "an ISO 8601 date-time string" for a date. */
export function validateInput(schema: Schema, value: unknown): Validated | Promise<Validated> {
  return run(schema, value, toValidatedInput);
}

type Result = StandardSchemaV1.Result<unknown>;

/** The zod schemas that have accepted a value without an asynchronous check. */
const synchronous = new WeakMap<Schema, StandardSchemaV1.Props>();

function run(schema: Schema, value: unknown, read: (result: Result) => Validated): Validated | Promise<Validated> {
  const known = synchronous.get(schema);
  const result = known === undefined ? runUnknown(schema, value) : known.validate(value);
  // Also for a promise of another library or realm: to read it as a result would be to accept the value unseen.
  return "then" in result ? Promise.resolve(result).then(read) : read(result);
}

function toValidated(result: Result, toWords: (message: string) => string = String): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, maxIssues).map((issue) => toIssue(issue, toWords)) };
}

function toValidatedInput(result: Result): Validated {
  return toValidated(result, toWireWords);
}

function toIssue(issue: StandardSchemaV1.Issue, toWords: (message: string) => string): Issue {
  const segments = (issue.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment));
  return createIssue(segments, toWords(describeUnion(issue) ?? issue.message));
}

const maxOptions = 4;
// Each level multiplies by maxOptions, so a recursive union must not be followed down.
const maxLevels = 2;

/**
 * Says why no option of a union fits. Zod's message for a failed union is only "Invalid input"; what each option
 * disliked sits in a non-standard `errors` list, one list of issues an option. Returns undefined for an issue without
 * it, whose own message is better.
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
  const path = (first.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
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

const words: ReadonlyMap<string, string> = new Map([
  ["date", "an ISO 8601 date-time string"],
  ["bigint", "an integer as a decimal string"],
  ["map", "an array of [key, value] pairs"],
  ["set", "an array"],
]);

// What zod, valibot and arktype say of a value of another type. That a text was received is no contradiction on the wire.
const typeRegExp =
  /\b(expected|must be) (?:an? )?(date|bigint|map|set)(?:, received string|(?=, received| but received| \(was))/gi;

/**
 * Words the message of a failed validation by what travels: a caller who sent JSON cannot send a date, and was shown a
 * schema that asks for a string.
 */
function toWireWords(message: string): string {
  return message.replaceAll(typeRegExp, (found, verb: string, type: string) => {
    const form = words.get(type.toLowerCase());
    return form === undefined ? found : `${verb} ${form}`;
  });
}

/**
 * Lets the copy of zod that made a schema word its issues, with that copy's locale and error maps: a schema of the same
 * class, whose run gives the payload of a run that has been.
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
 * zod's own `~standard.validate` tries without asynchronous checks first; when it meets one it drops the promise that the
 * check has returned, and starts again. A check that has effects then has them twice, and one that rejects is an
 * unhandled rejection, which ends the process. So a schema's first run allows for asynchronous checks; once a schema
 * has shown none, it goes the faster way.
 */
function runUnknown(schema: Schema, value: unknown): Result | Promise<Result> {
  if (!isZodSchema(schema)) return standardOf(schema).validate(value);
  const result = runOnce(schema, value);
  // Only a value that was accepted has been through every check.
  if (!(result instanceof Promise) && result.issues === undefined) synchronous.set(schema, standardOf(schema));
  return result;
}
