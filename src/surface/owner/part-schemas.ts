import type { StandardSchemaV1 } from "@standard-schema/spec";
import { standardOf, type Schema } from "../../schema/standard.ts";
import type { MemberOfKind } from "../member.ts";
import type { CollectionPage } from "../source.ts";
import { createSteady } from "./steady.ts";

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
  const toSteady = createSteady<unknown>();
  return createSchema(async (value) => {
    if (!Array.isArray(value)) return { issues: [{ message: "it must be a list" }] };
    const result = toList(await Promise.all(value.map(async (item) => standardOf(schema).validate(item))));
    return result.issues === undefined ? { value: toSteady(result.value) } : result;
  });
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/** The schema of a page of at most `limit` items. */
export function toPageSchema({ key, schema: item }: MemberOfKind<"collection">, limit: number): Schema {
  return createSchema(async (page) => {
    // Its fields are looked at next.
    const { items, next } =
      typeof page === "object" && page !== null ? (page as Partial<CollectionPage<unknown, unknown>>) : {};
    if (!Array.isArray(items) || !items.every(isPair)) {
      return { issues: [{ message: "a page must be { items: [[key, item], …], next? }" }] };
    }
    if (items.length > limit) return { issues: [{ message: `a page of ${limit} items has ${items.length}` }] };
    if (next !== undefined && typeof next !== "string") return { issues: [{ message: '"next" must be a text' }] };
    const pairs = items.map(async ([each, value]) =>
      toList([await standardOf(key).validate(each), await standardOf(item).validate(value)]),
    );
    const checked = toList(await Promise.all(pairs));
    if (checked.issues !== undefined) return checked;
    return { value: Object.freeze({ items: checked.value, ...(next === undefined ? {} : { next }) }) };
  });
}

/** The schema of what was checked already. */
export const checkedSchema: StandardSchemaV1 = createSchema((value) => ({ value }));

/** The schema of what a schema takes, or of nothing. */
export function toAbsentSchema(schema: Schema): Schema {
  return createSchema((value) => (value === undefined ? { value } : standardOf(schema).validate(value)));
}

/** A value that was read. An object of its own for each read: a source may change the value in place. */
export interface Sample {
  readonly raw: unknown;
}

/** The schema of a {@link Sample} of what a schema takes. It gives what `keep` makes of the value. */
export function toSampleSchema(schema: Schema, keep: (value: unknown) => unknown): Schema {
  return createSchema(async (sample) => {
    // Only what is sampled is given to it.
    const { raw } = sample as Sample;
    const result = await standardOf(schema).validate(raw);
    return result.issues === undefined ? { value: keep(result.value) } : result;
  });
}
