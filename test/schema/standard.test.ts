import { type as ark } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { isSchema } from "../../src/schema/standard.ts";
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
