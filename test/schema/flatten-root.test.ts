import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toToolInput } from "../../src/catalog/tool-input.ts";
import { entryWarnings } from "../../src/catalog/entry-warnings.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { fromJsonSchema } from "../../src/schema/from-json-schema.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { validate } from "../../src/schema/validate.ts";

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
        "What to do\n\nGive the fields of exactly one of these:\n" +
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

  it("is told to its author where it says less than what a value is held against", () => {
    const entry = (input: z.ZodType): ToolEntry =>
      // Only these are read.
      ({ name: "run", origin: 'tool "run"', input: toToolInput(input, "t") }) as ToolEntry;
    expect(entryWarnings([entry(action)], [])).toEqual([expect.stringContaining('the input of tool "run"')]);
    expect(entryWarnings([entry(z.object({ by: action }))], [])).toEqual([]);
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
