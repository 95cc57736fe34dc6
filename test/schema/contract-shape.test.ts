import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type Schema, type SchemaSide, withJsonSchema } from "../../src/schema/standard.ts";
import { canonicalText } from "../../src/schema/json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../../src/schema/json.ts";
import { toContractShape } from "../../src/schema/reader-schema.ts";
import { isCompatible } from "../../src/schema/compare-shapes.ts";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import { constructs } from "./zod-constructs.ts";
import { a, differing, fitting, treeOf, uncompared } from "./contract-pairs.ts";
import { draws } from "../setup/test-length.ts";

const keywords = fc.constantFrom(
  "type",
  "properties",
  "required",
  "items",
  "anyOf",
  "allOf",
  "$ref",
  "enum",
  "not",
  "prefixItems",
);
const cases = Object.entries(constructs);
const anything = z.any();

function shapeOf(schema: Schema, side: SchemaSide = "output"): JsonSchema {
  const compiled = side === "input" ? toInputSchema(schema, "t") : toOutputSchema(schema, "t");
  if (compiled === undefined) throw new TypeError("expected a schema");
  return toContractShape(compiled);
}

const textOf = (schema: Schema): string => canonicalText(shapeOf(schema));
const byJson = (json: JsonSchema): JsonSchema => shapeOf(withJsonSchema(anything, json));
const judge = (producer: Schema, consumer: Schema) =>
  isCompatible({ producer: shapeOf(producer), consumer: shapeOf(consumer) });

describe("toContractShape()", () => {
  it.each(cases)("a shape is the value's own schema, and says so in one text, when it is of %s", (_, { schema }) => {
    const shape = shapeOf(schema);
    const text = canonicalText(shape);
    expect(text).not.toMatch(/"(~wire|description|title|default|examples|\$defs|\$id)":(?!\{)/);
    // As it comes out of a message, with its keys in another order.
    const turned = JSON.parse(text, (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toReversed())
        : value,
    ) as JsonSchema;
    expect(canonicalText(turned)).toBe(text);
    expect(isCompatible({ producer: turned, consumer: shape })).toBe(true);
  });

  it.each(cases)("a shape fits itself when nothing is known of its text, and it is of %s", (_, { schema }) => {
    for (const side of ["input", "output"] as const) {
      const producer = shapeOf(schema, side);
      const consumer = { ...producer, "x-other": true };
      expect(isCompatible({ producer, consumer, side })).toBe(true);
    }
  });

  it("a shape stays when only words change", () => {
    const plain = z.object({ a: z.string(), b: z.array(z.int()).optional() });
    const wordy = z
      .object({
        b: z.array(z.int().meta({ title: "N", examples: [1], deprecated: true })).optional(),
        a: z.string().describe("An a").meta({ readOnly: true, "x-order": 1 }),
      })
      .describe("Both");
    expect(textOf(wordy)).toBe(textOf(plain));
    expect(textOf(plain)).toBe(
      `{"additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"items":{"type":"integer"},` +
        `"type":"array"}},"required":["a"],"type":"object"}`,
    );
  });

  it("a shape stays when a library spells the same in another way", () => {
    const named = { $defs: { t: { type: "string" } }, type: "object", properties: { a: { $ref: "#/$defs/t" } } };
    const spelt = { properties: { a: { type: "string" } }, type: "object", $comment: "x", $schema: "y" };
    expect(canonicalText(byJson(named))).toBe(canonicalText(byJson(spelt)));
    const one = { oneOf: [{ const: "a" }, { enum: [2, 1] }], type: ["string", "integer"] };
    const other = { type: ["integer", "string"], anyOf: [{ enum: ["a"] }, { enum: [1, 2] }] };
    expect(canonicalText(byJson(one))).toBe(canonicalText(byJson(other)));
    const patterned = { type: "string", format: "email", pattern: "@" };
    expect(canonicalText(byJson(patterned))).toBe(canonicalText(byJson({ type: "string", format: "email" })));
  });

  it("a shape keeps recursion as a reference when it is recursive, whatever the library calls it", () => {
    expect(textOf(treeOf(z.string()))).toBe(
      `{"additionalProperties":false,"properties":{"kids":{"items":{"$ref":"#"},"type":"array"},` +
        `"name":{"type":"string"}},"required":["kids","name"],"type":"object"}`,
    );
    const inner = shapeOf(z.object({ "a/b~c%": treeOf(z.string()) }));
    expect(canonicalText(inner)).toContain(`{"$ref":"#/properties/a~1b~0c%25"}`);
    expect(isCompatible({ producer: inner, consumer: { ...inner, "x-other": 1 } })).toBe(true);
    const named = {
      $defs: { Any: { type: "object", properties: { kid: { $ref: "#/$defs/Any" } } } },
      $ref: "#/$defs/Any",
    };
    expect(canonicalText(byJson(named))).toBe(`{"properties":{"kid":{"$ref":"#"}},"type":"object"}`);
  });

  it("a shape says that a value may be left out when it may", () => {
    expect(textOf(z.string().optional())).toBe(`{"type":"string","x-optional":true}`);
    expect(judge(z.string().optional(), z.string())).toBe("");
    expect(judge(z.string(), z.string().optional())).toBe(true);
    expect(judge(z.object({ a: z.string() }), z.object({ a: z.string() }).optional())).toBe(true);
  });
});

const names = fc.constantFrom("a", "b");
const bound = fc.integer({ min: 0, max: 3 });
const scalar = fc.constantFrom<JsonValue>(0, 1, 2.5, "", "a", "bb", true, null);

const two = ["a", "b"];
const text = { type: "string" };
/** A closed reader, and the keywords of its values that a dropped field may break. */
const closed = (own: JsonObject): JsonSchema => ({
  type: "object",
  properties: { a: text },
  additionalProperties: false,
  ...own,
});

const open = (properties: JsonObject): JsonSchema => ({ type: "object", properties });

/** Pairs of shapes by JSON Schema: a producer, and a consumer that refuses some of its values. */
const refusing: [string, JsonSchema, JsonSchema][] = [
  [
    "needs an item that the producer only may have",
    { type: "array", contains: { const: 1 }, minContains: 0 },
    { type: "array", contains: { const: 1 } },
  ],
  [
    "counts fields after it drops one",
    { type: "object", required: two, minProperties: 2 },
    closed({ minProperties: 2 }),
  ],
  [
    "drops a field that another one needs",
    { type: "object", required: two, dependentRequired: { a: ["b"] } },
    closed({ dependentRequired: { a: ["b"] } }),
  ],
  ["drops a field that it requires", { type: "object", required: two }, closed({ required: two })],
  [
    "refuses what it has dropped a field of",
    { type: "object", required: two, not: { maxProperties: 1 } },
    closed({ not: { maxProperties: 1 } }),
  ],
  [
    "refuses a field in one of its parts",
    { type: "object", properties: { a: text, b: text }, required: two },
    { allOf: [closed({}), { required: two }] },
  ],
  [
    "asks for a field that another part of the producer describes",
    { allOf: [open({ a: text }), open({ b: { type: "integer" } })] },
    open({ a: text, b: text }),
  ],
  [
    "asks for a field that an option of the producer describes",
    { ...open({ a: text }), anyOf: [open({ b: { type: "integer" } }), { required: ["a"] }] },
    open({ a: text, b: text }),
  ],
  [
    "declares a field that the producer requires and describes nowhere",
    { type: "object", required: ["a"] },
    open({ a: text }),
  ],
  [
    "drops the field in which two items differ",
    { type: "array", items: open({ a: text, b: text }), uniqueItems: true },
    { type: "array", items: closed({}), uniqueItems: true },
  ],
  [
    "has fewer items in a tuple",
    { type: "array", prefixItems: [text], items: { type: "integer" } },
    { type: "array", items: { type: "integer" } },
  ],
  [
    "matches no names",
    { type: "object", patternProperties: { "^x": text }, additionalProperties: { type: "integer" } },
    { type: "object", additionalProperties: { type: "integer" } },
  ],
  [
    "refuses fields that none of its parts describe",
    { type: "object", properties: { a: text, b: text }, unevaluatedProperties: false },
    { type: "object", properties: { a: text }, unevaluatedProperties: false },
  ],
];

/** Shapes of which many fit each other. Their objects are closed: of an open one only its declared fields are compared. */
const { shapes } = fc.letrec<{ shapes: JsonSchema; object: JsonSchema }>((tie) => ({
  shapes: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonSchema>({ type: "string" }, { type: "integer" }, { type: ["number", "null"] }, {}, { not: {} }),
    fc.record({ type: fc.constant("number"), minimum: bound, exclusiveMaximum: bound }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constant("string"), minLength: bound, maxLength: bound }, { requiredKeys: ["type"] }),
    fc.record({ enum: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie("shapes"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.tuple(tie("shapes"), fc.constant({ type: "null" })) }),
    fc.record({ anyOf: fc.tuple(fc.constant({ type: "null" }), tie("shapes")) }),
    fc.record({ allOf: fc.array(tie("shapes"), { minLength: 1, maxLength: 2 }) }),
    tie("object"),
    fc.record(
      { type: fc.constant("array"), items: tie("shapes"), minItems: bound, maxItems: bound },
      { requiredKeys: ["type"] },
    ),
  ),
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(names, tie("shapes")),
      required: fc.uniqueArray(names),
      additionalProperties: fc.constant(false),
    },
    { requiredKeys: ["type", "additionalProperties"] },
  ),
}));
const rules = [
  {},
  ...[{ minProperties: 1 }, { minProperties: 2 }],
  ...[{ dependentRequired: { a: ["b"] } }, { dependentRequired: { b: ["a"] } }],
];
/** Every closed object of two fields with one of the rules. */
const objects = [{}, { a: text }, { b: text }, { a: text, b: text }].flatMap((properties) =>
  [[], ["a"], ["b"], two].flatMap((required) =>
    rules.map((rule) => ({ type: "object", properties, required, additionalProperties: false, ...rule })),
  ),
);
const values = fc.array(
  fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(names, scalar),
    fc.dictionary(names, fc.jsonValue()),
  ),
  { minLength: 20, maxLength: 20 },
);

describe("isCompatible()", () => {
  it.each(fitting)("isCompatible() says yes when there is %s", (_what, producer, consumer) => {
    expect(judge(producer, consumer)).toBe(true);
  });

  it.each(uncompared)("isCompatible() is in doubt when there is %s", (_what, producer, consumer) => {
    expect(judge(producer, consumer)).not.toBe(true);
    expect(judge(consumer, consumer)).toBe(true);
  });

  it.each(differing)("isCompatible() names the place when %s", (...[_what, producer, consumer, path]) => {
    expect(judge(producer, consumer)).toBe(path);
  });

  it.each(refusing)("isCompatible() is in doubt when the consumer %s", (_what, producer, consumer) => {
    expect(isCompatible({ producer, consumer })).not.toBe(true);
    expect(isCompatible({ producer, consumer: { ...consumer, "x-other": true } })).not.toBe(true);
  });

  it.each<[string, JsonSchema]>([
    ["counts", closed({ minProperties: 1 })],
    ["has fields that need others", closed({ dependentRequired: { a: ["a"] } })],
    ["holds certain items", { type: "array", contains: { const: 1 }, minContains: 2 }],
  ])("isCompatible() says yes when a consumer drops nothing, and %s", (_what, consumer) => {
    expect(isCompatible({ producer: { ...consumer, "x-other": true }, consumer })).toBe(true);
  });

  it.each<[string, JsonSchema, JsonSchema]>([
    [
      "a closed reader drops a field that its values name",
      {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "integer" } },
        required: ["a", "b"],
        enum: [{ a: 1, b: 2 }],
      },
      {
        type: "object",
        properties: { a: { type: "integer" } },
        required: ["a"],
        additionalProperties: false,
        enum: [{ a: 1, b: 2 }],
      },
    ],
    [
      "a reference leads into an annotation that differs",
      { type: "object", properties: { a: { $ref: "#/x-defs/A" } }, "x-defs": { A: { type: "string" } } },
      { type: "object", properties: { a: { $ref: "#/x-defs/A" } }, "x-defs": { A: { type: "number" } } },
    ],
    ["a type is no text, but reads like one", { type: "null" }, JSON.parse('{ "type": null }')],
    ["a list of types holds a list", { type: "string" }, JSON.parse('{ "type": [["string"]] }')],
  ])("isCompatible() is in doubt when %s", (_what, producer, consumer) => {
    expect(isCompatible({ producer, consumer })).not.toBe(true);
  });

  it("isCompatible() compares both spellings of a nullable object", () => {
    const given: JsonSchema = { ...open({ a: text, b: text }), type: ["object", "null"], required: ["a"] };
    const asked: JsonSchema = { ...open({ a: text }), required: ["a"] };
    const spellings = [{ ...asked, type: ["null", "object"] }, { anyOf: [asked, { type: "null" }] }];
    for (const consumer of spellings) {
      expect(isCompatible({ producer: given, consumer })).toBe(true);
      for (const producer of spellings) expect(isCompatible({ producer, consumer })).toBe(true);
    }
    const optional = { anyOf: [{ ...asked, ...open({ a: text, c: text }) }, { type: "null" }] };
    expect(isCompatible({ producer: spellings[0] ?? {}, consumer: optional })).toBe(true);
  });

  it("isCompatible() takes no reference for the same in shapes that allow null at different places", () => {
    const next = { type: "object", properties: { next: { $ref: "#/anyOf/1" } } };
    const consumer = { anyOf: [{ type: "null" }, next] };
    const producer = { ...next, anyOf: [true, { type: "string" }] };
    expect(isCompatible({ producer, consumer })).not.toBe(true);
  });

  it("isCompatible() minds a field too many when a closed input would refuse it", () => {
    const producer = shapeOf(z.object({ ...a, b: z.int() }), "input");
    const consumer = shapeOf(z.strictObject(a), "input");
    expect(isCompatible({ producer, consumer, side: "input" })).toBe("b");
    expect(isCompatible({ producer, consumer })).toBe(true);
    expect(isCompatible({ producer: shapeOf(z.object(a), "input"), consumer, side: "input" })).toBe(true);
  });

  it("isCompatible() forgets what it has found when it relied on what turned out wrong", () => {
    const producer = {
      type: "object",
      properties: { kid: { type: "object", properties: { back: { $ref: "#" } } }, b: { type: "integer" } },
    };
    // The kid of the first arm fits as long as the arm does, which its "b" then keeps it from.
    const kid = { type: "object", properties: { back: { $ref: "#/anyOf/0" } } };
    const consumer = {
      anyOf: [
        { type: "object", properties: { kid, b: { type: "string" } } },
        { type: "object", properties: { kid: { $ref: "#/anyOf/0/properties/kid" } } },
      ],
    };
    expect(isCompatible({ producer, consumer })).toBe("");
    const loose = { type: "object", properties: { kid: { type: "object", properties: { back: { $ref: "#" } } } } };
    expect(isCompatible({ producer, consumer: loose })).toBe(true);
  });

  it.each<[string, JsonSchema]>([
    ["a reference that leads nowhere", { $ref: "#/nowhere" }],
    ["a reference to itself", { $ref: "#" }],
    ["a remote reference", { $ref: "https://example.org/" }],
    ["a reference with others beside it", { $ref: "#/properties/a", properties: { a: {} }, required: ["a"] }],
    [
      "keywords of the wrong type",
      { type: 5, properties: 5, required: 5, enum: 5, anyOf: 5, items: 5, minLength: "x" },
    ],
    ["a keyword that nobody knows", { type: "object", unheardOf: true }],
  ])("isCompatible() is in doubt when the consumer's shape is %s", (_what, consumer) => {
    expect(isCompatible({ producer: shapeOf(z.object(a)), consumer })).not.toBe(true);
    expect(isCompatible({ producer: consumer, consumer: shapeOf(z.object(a)) })).not.toBe(true);
  });

  it("isCompatible() ends when a shape is endless, or made to take for ever", () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 100_000; level++) deep = { items: deep };
    expect(isCompatible({ producer: deep, consumer: deep })).not.toBe(true);
    const arms = Array.from({ length: 12 }, (_, index) => ({
      properties: { [`p${index}`]: { $ref: "#" }, q: { $ref: "#" } },
      required: [`p${index}`],
    }));
    const others = arms.map((arm) => ({ ...arm, required: [...arm.required, "q"] }));
    const found = isCompatible({
      producer: { type: "object", anyOf: arms },
      consumer: { type: "object", anyOf: others },
    });
    expect(found).toBe("");
  });

  const numbers = (count: number): number[] => Array.from({ length: count }, (_none, index) => index);
  const named = (count: number, value: JsonValue) => Object.fromEntries(numbers(count).map((at) => [`k${at}`, value]));

  it.each<[string, JsonSchema]>([
    ["many values among many keywords", { enum: numbers(4000), ...named(20_000, 0) }],
    ["more values than are read", { enum: numbers(1_000_000) }],
    ["more types than there are", { type: numbers(100_000).map(() => "string") }],
    ["more fields than are read", { type: "object", properties: named(100_000, { type: "string" }) }],
    ["values as large as a message", { enum: [{ a: "x".repeat(8_000_000) }, { b: "y".repeat(8_000_000) }] }],
    ["an option for each of many values", { anyOf: numbers(400).map((at) => ({ enum: [`${at}`, ...numbers(100)] })) }],
  ])("isCompatible() is in doubt before long when one shape has %s", (_what, shape) => {
    const one = { anyOf: [{ type: "string", maxLength: 0 }, { type: "null" }] };
    const began = performance.now();
    expect(isCompatible({ producer: shape, consumer: one })).not.toBe(true);
    expect(isCompatible({ producer: { type: "object" }, consumer: shape })).not.toBe(true);
    // It held for minutes, and took gigabytes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it("isCompatible() is in doubt when a shape refers to itself without a part between", () => {
    const producer = { anyOf: [{ $ref: "#" }, { type: "integer" }] };
    expect(isCompatible({ producer, consumer: { type: "string" } })).toBe("");
    expect(isCompatible({ producer: { allOf: [{ $ref: "#" }] }, consumer: { type: "string" } })).toBe("");
  });

  it("isCompatible() accepts no pair when a value of the producer fails the consumer", () => {
    const ajv = new Ajv2020({ strict: false });
    let compatible = 0;
    fc.assert(
      fc.property(shapes, shapes, values, (producer, consumer, samples) => {
        if (isCompatible({ producer, consumer, side: "input" }) !== true) return;
        compatible += 1;
        const [gives, takes] = [ajv.compile(producer), ajv.compile(consumer)];
        for (const value of samples) expect(!gives(value) || takes(value)).toBe(true);
      }),
      { numRuns: draws(400, 2000) },
    );
    expect(compatible).toBeGreaterThan(draws(5, 20));
  });

  it("isCompatible() accepts no closed reader that refuses a value without the fields that it drops", () => {
    const ajv = new Ajv2020({ strict: false });
    const samples = [{}, { a: "" }, { b: "" }, { a: "", b: "" }];
    const all = objects.map((shape) => ({ shape, fits: ajv.compile(shape) }));
    const pairs = all.flatMap((producer) => all.map((consumer) => ({ producer, consumer })));
    const wrong: unknown[] = [];
    let dropped = 0;
    for (const { producer, consumer } of pairs) {
      if (isCompatible({ producer: producer.shape, consumer: consumer.shape }) !== true) continue;
      for (const value of samples.filter((sample) => producer.fits(sample))) {
        const kept = Object.entries(value).filter(([key]) => Object.hasOwn(consumer.shape.properties, key));
        dropped += Object.keys(value).length - kept.length;
        if (!consumer.fits(Object.fromEntries(kept))) wrong.push([producer.shape, consumer.shape, value]);
      }
    }
    expect(wrong).toEqual([]);
    expect(dropped).toBeGreaterThan(100);
  });

  it("isCompatible() never throws when both shapes are random JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(keywords, fc.jsonValue()), fc.dictionary(keywords, fc.jsonValue()), (one, other) => {
        // fast-check gives what JSON.parse would.
        const found = isCompatible({ producer: one as JsonSchema, consumer: other as JsonSchema });
        expect(found === true || typeof found === "string").toBe(true);
      }),
    );
  });
});
