import type { StandardSchemaV1 } from "@standard-schema/spec";
import { standardOf, type Schema } from "../../schema/standard.ts";
import { canonical } from "./canonical.ts";

type Result = StandardSchemaV1.Result<unknown>;
type Issues = readonly { readonly message: string }[];

function createSchema(validate: (value: unknown) => Result | Promise<Result>): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "surface-mcp", validate } };
}

function toList(results: readonly Result[]): Result {
  const issues: Issues = results.flatMap((result) => result.issues ?? []);
  if (issues.length > 0) return { issues };
  return { value: Object.freeze(results.map((result) => ("value" in result ? result.value : undefined))) };
}

/** The schema of a list of what a schema takes. It gives the same list again for as long as nothing in it changes. */
export function toListSchema(schema: Schema): Schema {
  let last: { readonly text: string; readonly result: Result } | undefined;
  return createSchema(async (value) => {
    if (!Array.isArray(value)) return { issues: [{ message: "it must be a list" }] };
    const result = toList(await Promise.all(value.map(async (item) => standardOf(schema).validate(item))));
    if (result.issues !== undefined) return result;
    const text = canonical(result.value);
    if (last?.text !== text) last = { text, result };
    return last.result;
  });
}

/** The schema of what a schema takes, or of nothing. */
export function toAbsentSchema(schema: Schema): Schema {
  return createSchema((value) => (value === undefined ? { value } : standardOf(schema).validate(value)));
}
