import * as fc from "fast-check";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toToolInput } from "../../src/catalog/tool-schemas.ts";
import { entryWarnings } from "../../src/catalog/create-catalog.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { fromJsonSchema } from "../../src/schema/validator/from-json-schema.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { type Schema, withJsonSchema } from "../../src/schema/standard.ts";
import { validate } from "../../src/schema/validate.ts";
import { jsonUnions, objects, zodUnions } from "./random-unions.ts";
import { draws } from "../setup/test-length.ts";

const ajv = new Ajv2020({ strict: false });

const action = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("start"), node: z.string(), at: z.date().optional() }),
    z.strictObject({ kind: z.literal("stop"), node: z.string(), reason: z.string() }),
    z.strictObject({ kind: z.literal("list") }),
  ])
  .describe("What to do");

describe("the input schema of a tool", () => {
  it("is one object with optional fields when the input is a discriminated union", () => {
    expect(toToolInput(action, "t").json).toEqual({
      type: "object",
      description:
        "What to do\n\nGive the fields of one of these:\n" +
        '- kind "start": required node; optional at\n' +
        '- kind "stop": required node, reason\n' +
        '- kind "list": no other field required',
      properties: {
        kind: { type: "string", enum: ["start", "stop", "list"] },
        node: { type: "string" },
        at: { type: "string", format: "date-time" },
        reason: { type: "string" },
      },
      required: ["kind"],
      additionalProperties: false,
    });
  });

  it("leaves what a value is held against as it is", () => {
    const input = toToolInput(action, "t");
    const check = (args: JsonObject): unknown => validate(action, input.decode(args));
    expect(check({ kind: "start", node: "a", at: "2026-01-02T03:04:05.000Z" })).toMatchObject({ ok: true });
    expect(check({ kind: "stop", node: "a" })).toMatchObject({ ok: false, issues: [{ path: "reason" }] });
    expect(check({ kind: "list", node: "a" })).toMatchObject({ ok: false });
  });

  it.each<[string, z.ZodType | JsonObject, JsonObject]>([
    [
      "a plain union",
      z.union([z.object({ id: z.string() }), z.object({ id: z.number(), by: z.string() })]),
      { properties: { id: { anyOf: [{ type: "string" }, { type: "number" }] }, by: {} }, required: ["id"] },
    ],
    [
      "an intersection with a union",
      z.intersection(
        z.object({ a: z.string().describe("A") }).describe("x"),
        z.union([z.object({ b: z.int() }), z.object({ c: z.int() })]),
      ),
      { properties: { a: {}, b: {}, c: {} }, required: ["a"] },
    ],
    [
      "nested unions",
      z.union([action, z.object({ kind: z.literal("never"), deep: z.boolean() })]),
      { properties: { kind: { enum: ["start", "stop", "list", "never"] }, deep: {} }, required: ["kind"] },
    ],
    [
      "a foreign schema with allOf, oneOf and if",
      {
        type: "object",
        properties: { a: { type: "string" } },
        allOf: [{ required: ["a"] }, { properties: { b: { type: "integer" } } }],
        oneOf: [{ properties: { c: { const: 1 } } }, { properties: { c: { const: 2 } } }],
        if: { required: ["b"] },
        else: { required: ["c"] },
      },
      { properties: { a: {}, b: {}, c: { type: "number", enum: [1, 2] } }, required: ["a"] },
    ],
  ])("has no alternatives at its root when it comes from %s", (_what, schema, expected) => {
    const { json } = toToolInput("~standard" in schema ? (schema as z.ZodType) : fromJsonSchema(schema), "t");
    expect(json).toMatchObject({ type: "object", ...expected });
    for (const keyword of ["anyOf", "oneOf", "allOf", "not", "if", "else"])
      expect(Object.keys(json)).not.toContain(keyword);
  });

  it("has a warning for its author that names the keywords which agents do not see", () => {
    const warnings = (input: Schema): readonly string[] => {
      // Only these are read.
      const entry = { name: "run", origin: 'tool "run"', input: toToolInput(input, "t") } as ToolEntry;
      return entryWarnings([entry], []);
    };
    expect(warnings(action)).toEqual([expect.stringContaining('the input of tool "run" has anyOf at its root')]);
    expect(warnings(z.union([action, z.object({})]))).toEqual([expect.stringContaining("has anyOf at its root")]);
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    const conditional = fromJsonSchema({ type: "object", not: { required: ["a"] }, if: {}, then: {} });
    expect(warnings(conditional)).toEqual([expect.stringContaining("has not, if at its root")]);
    expect(warnings(z.object({ by: action }))).toEqual([]);
  });

  it.each<[string, Schema, JsonObject]>([
    [
      "a field of the base that one alternative narrows",
      z
        .object({ scope: z.string() })
        .and(
          z.union([z.object({ scope: z.literal("all"), force: z.boolean() }), z.object({ ids: z.array(z.string()) })]),
        ),
      { scope: "team", ids: ["1"] },
    ],
    [
      "such a field in JSON Schema",
      fromJsonSchema({
        type: "object",
        properties: { target: { type: "string" }, id: { type: "string" } },
        anyOf: [{ properties: { target: { const: "all" } } }, { required: ["id"] }],
      }),
      { target: "one", id: "7" },
    ],
    [
      "fields that match a pattern",
      fromJsonSchema({
        type: "object",
        anyOf: [
          { patternProperties: { "^x-": { type: "number" } }, additionalProperties: false },
          { properties: { a: { type: "string" } }, additionalProperties: false },
        ],
      }),
      { "x-1": 5 },
    ],
    [
      "a named field in a record",
      z.union([z.object({ name: z.string() }), z.record(z.string(), z.number())]),
      { name: 5 },
    ],
    ["a named field in an open object", z.union([z.object({ a: z.string() }), z.looseObject({})]), { a: 5 }],
    [
      "a field that a condition describes",
      fromJsonSchema({
        type: "object",
        // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
        anyOf: [{ properties: { a: { type: "string" } } }, { if: {}, then: { properties: { a: { type: "number" } } } }],
      }),
      { a: 5 },
    ],
    [
      "a field of a listed object",
      fromJsonSchema({ type: "object", anyOf: [{ properties: { a: { type: "string" } } }, { enum: [{ a: 5 }] }] }),
      { a: 5 },
    ],
  ])("accepts %s as the server does", (_what, schema, value) => {
    expect(validate(schema, value)).toMatchObject({ ok: true });
    expect(ajv.validate(toToolInput(schema, "t").json, value)).toBe(true);
  });

  it("shows the values of a discriminator whose base has a long description", () => {
    const description = "The kind of the thing, in a sentence that is much longer than the list of its values. ".repeat(
      2,
    );
    const schema = z
      .object({ kind: z.string().describe(description) })
      .and(z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]));
    expect(toToolInput(schema, "t").json["properties"]).toEqual({
      kind: { type: "string", enum: ["a", "b"], description },
    });
  });

  it("has no schemas for fields that are forbidden, and none twice", () => {
    const either = z.union([
      z.object({ a: z.string(), b: z.never().optional() }),
      z.object({ b: z.string(), a: z.undefined().optional() }),
    ]);
    expect(toToolInput(either, "t").json).toEqual({
      type: "object",
      description: "Give the fields of one of these:\n- required a\n- required b",
      properties: { a: { type: "string" }, b: { type: "string" } },
    });
    const nullable = z.union([z.object({ v: z.string().nullable() }), z.object({ v: z.number().nullable() })]);
    const arms = [{ type: "string" }, { type: "null" }, { type: "number" }];
    expect(toToolInput(nullable, "t").json).toEqual({
      type: "object",
      properties: { v: { anyOf: arms } },
      required: ["v"],
    });
  });

  it.each<[string, Schema, string]>([
    [
      "fields that only `required` names",
      fromJsonSchema({
        type: "object",
        properties: { id: { type: "string" }, name: { type: "string" } },
        anyOf: [{ required: ["id"] }, { required: ["name"] }],
      }),
      "Give the fields of one of these:\n- required id\n- required name",
    ],
    [
      "the same with oneOf",
      fromJsonSchema({ type: "object", oneOf: [{ required: ["id"] }, { required: ["name"] }] }),
      "Give the fields of one of these:\n- required id\n- required name",
    ],
    [
      "closed alternatives",
      z.union([z.strictObject({ id: z.string() }), z.strictObject({ name: z.string().optional() })]),
      "Give the fields of one of these:\n- required id\n- no field required; optional name",
    ],
    [
      "two unions",
      z.intersection(
        z.discriminatedUnion("a", [
          z.object({ a: z.literal(1), x: z.string() }),
          z.object({ a: z.literal(2), y: z.string() }),
        ]),
        z.union([z.object({ p: z.string() }), z.object({ q: z.string().optional() })]),
      ),
      "Give the fields of one of these:\n- a 1: required x\n- a 2: required y\n\n" +
        "Give the fields of one of these:\n- required p\n- no field required; optional q",
    ],
    [
      "several values of a discriminator, and a description of each alternative",
      z.discriminatedUnion("type", [
        z.object({ type: z.enum(["open", "reopen"]), x: z.string() }).describe("Opens it"),
        z.object({ type: z.null() }).describe("Closes it. ".repeat(20)),
      ]),
      'Give the fields of one of these:\n- type "open" or "reopen": required x (Opens it)\n' +
        `- type null: no other field required (${"Closes it. ".repeat(8)}Close…)`,
    ],
    [
      "a nested discriminator",
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("a"), x: z.string() }),
        z.discriminatedUnion("sub", [
          z.object({ kind: z.literal("b"), sub: z.literal("m"), m: z.number() }),
          z.object({ kind: z.literal("b"), sub: z.literal("n"), n: z.number() }),
        ]),
      ]),
      'Give the fields of one of these:\n- kind "a": required x\n- kind "b", sub "m": required m\n' +
        '- kind "b", sub "n": required n',
    ],
    [
      "a narrowed field of the base",
      z
        .object({ scope: z.string() })
        .and(z.union([z.object({ scope: z.literal("all"), force: z.boolean() }), z.object({ ids: z.string() })])),
      'Give the fields of one of these:\n- scope "all": required force\n- required ids',
    ],
    [
      "conditions",
      fromJsonSchema({
        type: "object",
        properties: { a: { type: "string" } },
        enum: [{ a: "x" }, {}],
        not: { required: ["b"] },
        if: { required: ["a"] },
        // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
        then: { required: ["c"] },
      }),
      "Further conditions hold that this schema does not show.",
    ],
    [
      "alternatives that differ in the types of several fields",
      z.union([z.object({ a: z.string(), b: z.string() }), z.object({ a: z.number(), b: z.number() })]),
      "Further conditions hold that this schema does not show.",
    ],
  ])("describes in text: %s", (_what, schema, text) => {
    expect(toToolInput(schema, "t").json["description"]).toBe(text);
  });

  it("stays within a bound where a union is large", () => {
    const named = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, { type: "string" }]));
    const values = Array.from({ length: 1000 }, (_, index) => `value${index}`);
    const record = fromJsonSchema({
      type: "object",
      anyOf: [{ properties: named }, { additionalProperties: { enum: values } }],
    });
    // Each field repeats the schema of the record, and not its thousand values.
    expect(JSON.stringify(toToolInput(record, "t").json).length).toBeLessThan(100_000);
    const arms = values.map((value) => ({ properties: { kind: { const: value }, [value]: {} }, required: ["kind"] }));
    const { description } = toToolInput(fromJsonSchema({ type: "object", oneOf: arms }), "t").json;
    expect(description).toMatch(/\n- and 976 more$/u);
    expect(JSON.stringify(description).length).toBeLessThan(6500);
  });

  it("accepts every value without unknown fields that the server accepts", () => {
    let accepted = 0;
    const expectAccepted = (shown: JsonObject, values: readonly unknown[]): void => {
      const accepts = values.length === 0 ? () => true : ajv.compile(shown);
      for (const value of values)
        expect(accepts(value), `${JSON.stringify(value)} by ${JSON.stringify(shown)}`).toBe(true);
      accepted += values.length;
    };
    const values = fc.array(objects, { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(zodUnions, values, (schema, inputs) => {
        // The output of a schema is the value without the fields that no alternative names.
        const outputs = inputs.flatMap((input) => schema.safeParse(input).data ?? []);
        expectAccepted({ ...toToolInput(schema, "t").json }, outputs);
      }),
      { numRuns: draws(20, 60), seed: 1 },
    );
    fc.assert(
      fc.property(jsonUnions, values, (json, inputs) => {
        const accepts = ajv.compile({ allOf: [json], unevaluatedProperties: false });
        const { json: shown } = toToolInput(withJsonSchema(z.any(), json), "t");
        expectAccepted(
          { ...shown },
          inputs.filter((input) => accepts(input)),
        );
      }),
      { numRuns: draws(35, 100), seed: 2 },
    );
    expect(accepted).toBeGreaterThan(draws(300, 1000));
  });

  it.each([
    ["void", z.void()],
    ["undefined", z.undefined()],
    ["nothing", undefined],
  ])("has no fields when the input is %s", (_what, schema) => {
    const input = toToolInput(schema, "t");
    expect(input.json).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(input.decode({})).toBeUndefined();
  });
});
