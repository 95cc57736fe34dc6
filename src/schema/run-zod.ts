import type { StandardSchemaV1 } from "@standard-schema/spec";
import type * as z from "zod";
import { zodInternals } from "./zod-schema.ts";

type Result = StandardSchemaV1.Result<unknown>;

/** Schemas that are known to be synchronous, or asynchronous, from having been run. */
const isAsync = new WeakMap<z.core.$ZodType, boolean>();

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

/** Runs a schema once, whether or not it has asynchronous parts. */
function runOnce(schema: z.core.$ZodType, value: unknown): Result | Promise<Result> {
  const run = zodInternals(schema).run({ value, issues: [] }, { async: true });
  if (!(run instanceof Promise)) return toResult(schema, run);
  isAsync.set(schema, true);
  return run.then((payload) => toResult(schema, payload));
}

/**
 * Runs a zod schema over a value: each of its checks once.
 *
 * zod's own `~standard.validate` tries without asynchronous checks first; when it meets one it drops the promise that the
 * check has returned, and starts again. A check that has effects then has them twice, and one that rejects is an
 * unhandled rejection, which ends the process. So a schema's first run allows for asynchronous checks; once a schema
 * has shown none, it goes the faster way.
 */
export function runZod(schema: z.core.$ZodType, value: unknown): Result | Promise<Result> {
  if (isAsync.get(schema) === false) return schema["~standard"].validate(value);
  const result = runOnce(schema, value);
  // Only a value that was accepted has been through every check.
  if (!(result instanceof Promise) && result.issues === undefined) isAsync.set(schema, false);
  return result;
}
