import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toAskForm } from "../../../src/catalog/asking/ask-form.ts";
import type { JsonSchema } from "../../../src/schema/json.ts";

const where = 'Asking "x"';

describe("toAskForm()", () => {
  it("tells clients of a form what they can know of each field", () => {
    const schema = z.object({
      mail: z.email().describe("Yours"),
      at: z.iso.date().optional(),
      id: z.uuid(),
      age: z.int().min(18).max(99).default(30),
      score: z.number(),
      sure: z.boolean().default(true),
      colour: z.enum(["red", "blue"]).default("red"),
      one: z.literal("only"),
      many: z.array(z.enum(["a", "b"])).min(1),
      titled: z.union([z.literal("a").meta({ title: "A" }), z.literal("b")]),
    });
    expect(toAskForm(schema, where).json).toEqual({
      type: "object",
      properties: {
        mail: { type: "string", description: "Yours", format: "email" },
        at: { type: "string", format: "date" },
        id: { type: "string" },
        age: { type: "integer", minimum: 18, maximum: 99, default: 30 },
        score: { type: "number" },
        sure: { type: "boolean", default: true },
        colour: { type: "string", enum: ["red", "blue"], default: "red" },
        one: { type: "string", enum: ["only"] },
        many: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1 },
        titled: {
          type: "string",
          oneOf: [
            { const: "a", title: "A" },
            { const: "b", title: "b" },
          ],
        },
      },
      required: ["mail", "id", "score", "one", "many", "titled"],
    });
  });

  it("hands on a JSON Schema as its author wrote it", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        legacy: { type: "string", title: "L", enum: ["a"], enumNames: ["A"], default: "a" },
        many: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
      },
      required: ["legacy"],
    };
    const { json } = toAskForm(schema, where);
    expect(json).toEqual(schema);
    expect(json).not.toBe(schema);
  });

  it.each<[string, z.ZodType]>([
    ["an object", z.object({ x: z.object({}) })],
    ["a list of texts", z.object({ x: z.array(z.string()) })],
    ["a text or nothing", z.object({ x: z.string().nullable() })],
    ["a choice of numbers", z.object({ x: z.union([z.literal(1), z.literal(2)]) })],
    ["anything", z.object({ x: z.any() })],
  ])("refuses a field that is %s, and names it", (_name, schema) => {
    expect(() => toAskForm(schema, where)).toThrow(/Asking "x": field "x" must be/);
  });

  it.each<[string, JsonSchema | z.ZodType]>([
    ["a text", z.string()],
    ["a list", { type: "array", items: { type: "string" } }],
    ["nothing that is said", {}],
    [
      "of fields beside a ~standard that is none",
      { "~standard": {}, type: "object", properties: { a: { type: "string" } } },
    ],
  ])("refuses a form that is %s", (_name, schema) => {
    expect(() => toAskForm(schema, where)).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
  });

  it("reads what was filled in as its schema makes it", async () => {
    const form = toAskForm(
      z.object({ at: z.string().transform((text) => text.length), n: z.number().default(7) }),
      where,
    );
    expect(await form.read({ at: "four" })).toEqual({ at: 4, n: 7 });
  });

  it("rejects with ASK_FAILED naming all fields that do not fit, and nothing that was said", async () => {
    const form = toAskForm(z.object({ a: z.string(), b: z.number().max(3), c: z.boolean() }), where);
    await expect(form.read({ a: "x", b: 4711, c: "secret" })).rejects.toMatchObject({
      code: "ASK_FAILED",
      message: 'the answer to the form is invalid: "b", "c" do not fit the form',
    });
  });
});
