import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Type } from "@sinclair/typebox";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { scope, type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import type { JsonSchema, JsonValue } from "../../src/schema/json.ts";
import { type Schema, withJsonSchema } from "../../src/schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import { validate } from "../../src/schema/validate.ts";

/** TypeBox has no Standard Schema of its own: this is what an author writes. */
function typebox<T extends TSchema>(schema: T): StandardSchemaV1<Static<T>> {
  const check = (value: unknown) => {
    if (Value.Check(schema, value)) return { value };
    return {
      issues: [...Value.Errors(schema, value)].map(({ path, message }) => ({
        message,
        path: path.slice(1).split("/"),
      })),
    };
  };
  // TypeBox schemas are JSON Schema with symbols beside it.
  return withJsonSchema(
    { "~standard": { version: 1, vendor: "typebox", validate: check } },
    schema as unknown as JsonSchema,
  );
}

const when = "2026-01-02T03:04:05.000Z";
const sent: JsonValue = { node: "a", at: when, size: "5", tags: ["x"], kind: "on", pair: ["x", 1] };
const ark = type({
  node: "string",
  at: "Date",
  size: "bigint",
  tags: "string[]",
  kind: "'on'|'off'",
  "more?": "string|undefined",
  pair: ["string", "number"],
});
const libraries: Record<string, Schema> = {
  zod: z.object({
    node: z.string(),
    at: z.date(),
    size: z.bigint(),
    tags: z.array(z.string()),
    kind: z.enum(["on", "off"]),
    more: z.string().optional(),
    pair: z.tuple([z.string(), z.number()]),
  }),
  "zod/mini": mini.object({
    node: mini.string(),
    at: mini.date(),
    size: mini.bigint(),
    tags: mini.array(mini.string()),
    kind: mini.enum(["on", "off"]),
    more: mini.optional(mini.string()),
    pair: mini.tuple([mini.string(), mini.number()]),
  }),
  arktype: ark,
  valibot: toStandardJsonSchema(
    v.object({
      node: v.string(),
      at: v.date(),
      size: v.bigint(),
      tags: v.array(v.string()),
      kind: v.picklist(["on", "off"]),
      more: v.optional(v.string()),
      pair: v.tuple([v.string(), v.number()]),
    }),
  ),
  TypeBox: typebox(
    Type.Object({
      node: Type.String(),
      at: Type.Date(),
      size: Type.BigInt(),
      tags: Type.Array(Type.String()),
      kind: Type.Union([Type.Literal("on"), Type.Literal("off")]),
      more: Type.Optional(Type.String()),
      pair: Type.Tuple([Type.String(), Type.Number()]),
    }),
  ),
};

describe.each(Object.entries(libraries))("%s", (library, schema) => {
  const input = toInputSchema(schema, "t");
  const output = toOutputSchema(schema, "t") ?? expect.unreachable();

  it(`toInputSchema() gives an object with every field when the schema is of ${library}`, () => {
    expect(Object.keys(input.json["properties"] ?? {}).toSorted()).toEqual([
      "at",
      "kind",
      "more",
      "node",
      "pair",
      "size",
      "tags",
    ]);
    expect([...((input.json["required"] ?? []) as string[])].toSorted()).toEqual([
      "at",
      "kind",
      "node",
      "pair",
      "size",
      "tags",
    ]);
    expect(input.json["properties"]).toMatchObject({
      at: { type: "string", format: "date-time" },
      size: { type: "string" },
      pair: { type: "array" },
    });
  });

  it(`codec round trips what was sent when the schema is of ${library}`, () => {
    expect(new Ajv2020({ strict: false, validateFormats: false }).validate(input.json, sent)).toBe(true);
    const value = input.codec.decode(sent);
    expect(value).toEqual({ node: "a", at: new Date(when), size: 5n, tags: ["x"], kind: "on", pair: ["x", 1] });
    expect(validate(schema, value)).toMatchObject({ ok: true });
    expect(JSON.parse(output.codec.stringify(value))).toEqual(sent);
  });
});

describe("toInputSchema(), by library", () => {
  it("toInputSchema() cuts recursion when an arktype or TypeBox schema is recursive", () => {
    const { node } = scope({ node: { at: "Date", "next?": "node" } }).export();
    const tree = typebox(Type.Recursive((This) => Type.Object({ at: Type.Date(), next: Type.Optional(This) })));
    const value = { at: new Date(when), next: { at: new Date(when), next: { at: new Date(when) } } };
    for (const schema of [node, tree]) {
      const { json, codec } = toInputSchema(schema, "t");
      expect(JSON.stringify(json)).not.toContain("$ref");
      expect(json["properties"]).toMatchObject({
        next: { description: "Recursive: the same shape as an enclosing value" },
      });
      expect(codec.decode(codec.encode(value))).toEqual(value);
    }
  });

  it("toInputSchema() reads both sides when a library transforms", () => {
    const schema = type({ at: "string.date.parse", n: "string.numeric.parse" });
    expect(toInputSchema(schema, "t").json["properties"]).toMatchObject({
      at: { type: "string" },
      n: { type: "string" },
    });
    expect(toOutputSchema(schema, "t")?.json["properties"]).toEqual({
      at: { type: "string", format: "date-time" },
      n: { type: "number" },
    });
  });

  it("toInputSchema() degrades and does not fail when arktype or valibot hold a map, a set or a symbol", () => {
    const schemas = [
      type({ m: "Map", s: "Set", y: "symbol" }),
      toStandardJsonSchema(v.object({ m: v.map(v.string(), v.string()), s: v.set(v.string()), y: v.symbol() })),
    ];
    for (const schema of schemas) {
      const { json, codec } = toInputSchema(schema, "t");
      expect(json["properties"]).toMatchObject({
        m: { type: "array" },
        s: { type: "array" },
        y: { description: "Has no JSON form: symbol" },
      });
      expect(codec.decode({ m: [["a", "b"]], s: ["x"] })).toEqual({ m: new Map([["a", "b"]]), s: new Set(["x"]) });
    }
  });

  it("toInputSchema() names the member and what is needed when a library gives no JSON Schema", () => {
    expect(() => toInputSchema(v.object({}), "node.rerun")).toThrow(
      'Cannot convert the input schema of node.rerun to JSON Schema: schema library "valibot" gives no JSON Schema: need',
    );
  });
});

describe("withJsonSchema()", () => {
  const json = { type: "object", properties: { a: { type: "string", default: { deep: [1] } } } };

  it("withJsonSchema() is what agents read when a validator has a schema of its own", () => {
    const schema = withJsonSchema(z.object({ b: z.number() }), { input: json, output: { type: "object" } });
    expect(toInputSchema(schema, "t").json).toEqual(json);
    expect(toOutputSchema(schema, "t")?.json).toEqual({ type: "object" });
    expect(validate(schema, { b: 1 })).toEqual({ ok: true, value: { b: 1 } });
  });

  it.each([null, 5, {}, { "~standard": {} }, { "~standard": { version: 2, vendor: "x", validate: Boolean } }])(
    "withJsonSchema() refuses %j, which is no validator",
    (value) => {
      // For authors who cast.
      expect(() => withJsonSchema(value as unknown as z.ZodType, json)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    },
  );

  it("withJsonSchema() leaves its arguments as they are when the result is compiled", () => {
    const validator = z.object({ a: z.string() });
    toInputSchema(withJsonSchema(validator, json), "t");
    expect(Object.isFrozen(json.properties.a.default.deep)).toBe(false);
    expect(toInputSchema(validator, "t").json).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
  });

  it("withJsonSchema() serves both sides when one JSON Schema describes properties called input and output", () => {
    const both = { type: "object", properties: { input: { type: "string" }, output: { type: "string" } } };
    expect(toInputSchema(withJsonSchema(z.any(), both), "t").json).toEqual(both);
  });
});
