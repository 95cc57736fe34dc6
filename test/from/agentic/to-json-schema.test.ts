import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJSONSchema } from "../../../src/from/agentic/to-json-schema.ts";
import { compileSchema } from "../../../src/schema/compile-schema.ts";
import { fromJsonSchema } from "../../../src/schema/validator/from-json-schema.ts";

/** What says how values are kept or drawn. */
const extensions = {
  layout: "packed",
  conditionals: [{ path: "/a", value: 1 }],
  nonPersistent: true,
  nonShared: true,
  partition: false,
  entity: true,
  mutable: true,
  precision: 1,
  interpolators: { linear: (from: number) => from },
};

describe("a schema of a service", () => {
  it("A20 loses hints for storage and rendering at every depth, and keeps the rest", () => {
    const kept = {
      ...{ type: "object", title: "t", description: "d", default: {}, required: ["a"], additionalProperties: false },
      properties: {
        a: { type: "number", minimum: 0, exclusiveMaximum: 5, multipleOf: 2, enum: [2, 4] },
        b: { type: "array", items: { const: 1 }, minItems: 1, maxItems: 2 },
        // Named like one of them, and a property all the same.
        layout: { type: "string", minLength: 1, maxLength: 3, pattern: "^a" },
        c: { oneOf: [{ type: "null" }], anyOf: [{}], allOf: [true] },
      },
    };
    const { a, b, layout, c } = kept.properties;
    const given = {
      ...kept,
      ...extensions,
      properties: {
        a: { ...a, ...extensions },
        b: { ...b, items: { ...b.items, ...extensions } },
        layout: { ...layout, ...extensions },
        c: { ...c, anyOf: [extensions] },
      },
    };
    expect(toJSONSchema(given)).toEqual(kept);
  });

  it.each([
    [{ type: "blob" }, { type: "string", contentEncoding: "base64" }],
    [
      { type: "typed-buffer", mediaType: "image/png" },
      { type: "string", contentMediaType: "image/png", contentEncoding: "base64" },
    ],
    [
      { type: "string", mediaType: "text/html" },
      { type: "string", contentMediaType: "text/html" },
    ],
    [{ $schema: "x", $id: "y", $comment: "z", $defs: { a: {} } }, {}],
    [{ default: () => 1, examples: [Number.NaN] }, {}],
    [{ properties: { ["__proto__"]: { type: "string" } } }, { properties: { ["__proto__"]: { type: "string" } } }],
  ])("A20 %j becomes JSON Schema", (given, expected) => {
    expect(JSON.stringify(toJSONSchema(given))).toBe(JSON.stringify(expected));
  });

  const endless: Record<string, unknown> = {};
  endless["items"] = endless;
  it.each<[string, object, string]>([
    ["has a reference", { properties: { a: { $ref: "#/$defs/a" } } }, '"$ref" is not supported'],
    ["holds itself", endless, "nested more than 64 levels deep"],
    ["says what is no JSON", { enum: [1n] }, '"enum" must be JSON'],
    ["has a part that is no schema", { properties: { a: "string" } }, "a part of it is not a schema"],
  ])("A20 is refused when it %s", (_what, given, message) => {
    expect(() => toJSONSchema(given)).toThrow(message);
  });

  const leaf = fc.constantFrom<object>(
    { type: "number", precision: 1 },
    { type: "blob", mediaType: "image/png" },
    { type: "string", default: "a", entity: true },
    { const: { layout: "packed" } },
  );
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.record({ items: tie("schema"), nonShared: fc.boolean() }),
      fc.record({ type: fc.constant("object"), properties: fc.dictionary(fc.string(), tie("schema")) }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), layout: fc.constant("std140") }),
    ),
  }));

  it("A20 converts to a listable schema, idempotently, and is not changed", () => {
    fc.assert(
      fc.property(schema, (given) => {
        const before = structuredClone(given);
        const made = toJSONSchema(given);
        expect(given).toEqual(before);
        expect(toJSONSchema(made)).toEqual(made);
        compileSchema(fromJsonSchema(made), "input", "a schema");
      }),
      { numRuns: 200 },
    );
  });
});
