import { describe, expect, it } from "vitest";
import * as z from "zod";
import { coerceScalar, scalarFields } from "../../src/schema/coerce-scalar.ts";
import { toInputSchema } from "../../src/schema/compile-schema.ts";

const number = { type: "number" };

describe("coerceScalar()", () => {
  it.each([
    ["5", number, 5],
    ["-0.5e2", number, -50],
    ["1.5", { type: "integer" }, undefined],
    ["5.0", { type: "integer" }, 5],
    ["007", number, undefined],
    ["+5", number, undefined],
    ["0x10", number, undefined],
    [" 5", number, undefined],
    ["", number, undefined],
    ["Infinity", number, undefined],
    ["1e999", number, undefined],
    ["true", { type: "boolean" }, true],
    ["TRUE", { type: "boolean" }, undefined],
    ["1", { type: "boolean" }, undefined],
    ["007", { type: "string" }, "007"],
    ["", { type: "string" }, ""],
    ["null", { type: ["string", "null"] }, "null"],
    ["5", { type: ["string", "number"] }, 5],
    ["true", { anyOf: [{ type: "string" }, { type: "boolean" }] }, true],
    ["x", { oneOf: [number, { type: "boolean" }] }, undefined],
    ["b", { enum: ["a", "b"] }, "b"],
    ["2", { enum: ["1", 2] }, 2],
    ["1", { enum: ["1", 2] }, "1"],
    ["c", { enum: ["a", "b"] }, undefined],
    ["true", { const: true }, true],
    ["5", {}, "5"],
    ["x", { type: "object" }, undefined],
  ])("coerceScalar() reads %j by %j as %j when it is a URI variable", (text, json, expected) => {
    expect(coerceScalar(text, json)).toBe(expected);
  });
});

describe("scalarFields()", () => {
  const fieldsOf = (schema: z.ZodType) =>
    scalarFields(toInputSchema(schema, "t").json)?.map(({ name, required }) => [name, required]);

  it("scalarFields() lists fields in declared order when the object is flat", () => {
    const schema = z.object({
      node: z.string(),
      at: z.date(),
      n: z.union([z.int(), z.boolean()]),
      kind: z.enum(["a"]).optional(),
    });
    expect(fieldsOf(schema)).toEqual([
      ["node", true],
      ["at", true],
      ["n", true],
      ["kind", false],
    ]);
  });

  it("scalarFields() lists the key value when the schema is a wrapped scalar", () => {
    expect(fieldsOf(z.string())).toEqual([["value", true]]);
  });

  it.each([
    ["a field is an object", z.object({ a: z.object({}) })],
    ["a field is an array", z.object({ a: z.array(z.string()).optional() })],
    ["a field may be an array", z.object({ a: z.union([z.string(), z.array(z.string())]) })],
    ["a field is anything", z.object({ a: z.unknown() })],
    ["the root is a union", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ["the root is a record", z.record(z.string(), z.string())],
  ])("scalarFields() is undefined when %s", (_, schema) => {
    expect(fieldsOf(schema)).toBeUndefined();
  });
});
