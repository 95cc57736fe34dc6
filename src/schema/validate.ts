import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Issue } from "../errors.ts";
import { createIssue, maxIssues } from "./render-issues.ts";
import { runZod } from "./run-zod.ts";
import { standardOf, type Schema } from "./standard.ts";
import { isZodSchema } from "./zod-schema.ts";
import { describeUnion } from "./describe-union.ts";
import { toWireWords } from "./wire-words.ts";

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

function run(schema: Schema, value: unknown, read: (result: Result) => Validated): Validated | Promise<Validated> {
  const result = isZodSchema(schema) ? runZod(schema, value) : standardOf(schema).validate(value);
  // Also for a promise of another library or realm: to read it as a result would be to accept the value unseen.
  return "then" in result ? Promise.resolve(result).then(read) : read(result);
}

function toValidated(result: Result): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, maxIssues).map((issue) => toIssue(issue)) };
}

function toValidatedInput(result: Result): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, maxIssues).map((issue) => toIssue(issue, toWireWords)) };
}

function toIssue(issue: StandardSchemaV1.Issue, toWords: (message: string) => string = String): Issue {
  const segments = (issue.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment));
  return createIssue(segments, toWords(describeUnion(issue) ?? issue.message));
}
