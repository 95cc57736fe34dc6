import { type as ark } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import * as zod3 from "zod/v3";
import { isSchema, describeInvalidSchema } from "../../src/schema/standard.ts";
import { toInputSchema } from "../../src/schema/compile-schema.ts";
import type { Schema } from "../../src/schema/standard.ts";

const schemas: Record<string, Schema> = {
  zod: z.object({ a: z.string().transform(Number) }),
  "zod/mini": mini.object({ a: mini.string() }),
  arktype: ark({ a: "string" }),
  valibot: v.object({ a: v.pipe(v.string(), v.transform(Number)) }),
};

describe("isSchema()", () => {
  it.each(Object.entries(schemas))("isSchema() is true when the schema is of %s", (_, schema) => {
    expect(isSchema(schema)).toBe(true);
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["a string", "~standard"],
    ["a plain object", { type: "object" }],
    ["a null standard", { "~standard": null }],
    ["another version", { "~standard": { version: 2, vendor: "x", validate: () => ({ value: 1 }) } }],
    ["no validate", { "~standard": { version: 1, vendor: "x" } }],
  ])("isSchema() is false when given %s", (_, value) => {
    expect(isSchema(value)).toBe(false);
  });
});

describe("a mistake with a schema", () => {
  it("is named when it is a record of schemas, a schema of zod 3, or no schema", () => {
    expect(describeInvalidSchema({ a: z.string() })).toContain("wrap it in z.object()");
    expect(describeInvalidSchema({ _def: {}, safeParse: () => {} })).toContain("schema of zod 3");
    expect(describeInvalidSchema({})).toContain("withJsonSchema()");
    expect(describeInvalidSchema("text")).toContain("such as z.object(");
    expect(() => toInputSchema(zod3.object({ a: zod3.string() }), 'tool "t"')).toThrow(/tool "t".*schema of zod 3/);
  });
});
