import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromJsonSchema } from "../../src/schema/validator/from-json-schema.ts";
import type { JsonSchema, JsonValue } from "../../src/schema/json.ts";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import { validate, type Validated } from "../../src/schema/validate.ts";
import { draws } from "../setup/test-length.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });

// Names that meet often. What every object has is looked at by itself: there the oracle is wrong.
const names = fc.constantFrom("a", "b", "😀");
const numbers = fc.constantFrom(-3, 0, 1, 2, 2.5, 6);
const counts = fc.constantFrom(0, 1, 2, 3);

const values: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, false, "", "a", "ab", "😀", "abc"),
    numbers,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

/** The oracle does not look for `contains` where an array is shorter than `prefixItems`: that is looked at by itself. */
function withoutBlind(pairs: readonly (readonly [string, JsonValue])[]): JsonSchema {
  const isTuple = pairs.some(([name]) => name === "prefixItems");
  return Object.fromEntries(pairs.filter(([name]) => !isTuple || name !== "contains"));
}

/** A schema of a few keywords of those that are held. */
function schemasOf(exclusive: boolean): fc.Arbitrary<JsonSchema> {
  return fc.letrec<{ schema: JsonSchema; part: JsonValue }>((tie) => {
    const part = tie("part");
    const parts = fc.array(part, { minLength: 1, maxLength: 3 });
    // Behind a `false` there the oracle looks at nothing else.
    const tuple = fc.array(tie("schema"), { minLength: 1, maxLength: 2 });
    const map = fc.array(fc.tuple(names, part), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
    const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
    const keywords: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      ...{ enum: fc.uniqueArray(values, { minLength: 1, maxLength: 3 }), const: values },
      ...{ minLength: counts, maxLength: counts, pattern: fc.constantFrom("^a", "b$", "^.{2}$", "[^a]") },
      ...{ minimum: numbers, maximum: numbers, exclusiveMinimum: numbers, exclusiveMaximum: numbers },
      ...{ multipleOf: fc.constantFrom(1, 2, 3), required: fc.uniqueArray(names, { maxLength: 2 }) },
      ...{ properties: map, patternProperties: map.map((all) => rename(all)), propertyNames: part },
      ...{ additionalProperties: part, minProperties: counts, maxProperties: counts },
      ...{ dependentRequired: fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), { maxKeys: 2 }) },
      ...{ dependentSchemas: map, prefixItems: tuple, items: part, contains: part, minContains: counts },
      ...{ maxContains: counts, minItems: counts, maxItems: counts, uniqueItems: fc.boolean() },
      ...{ allOf: parts, anyOf: parts, not: part, if: part, else: part },
      ...(exclusive ? { oneOf: parts } : {}),
    };
    const entries = [...Object.entries(keywords), ["then", part] as const];
    const pairs = entries.map(([name, value]) => fc.tuple(fc.constant(name), value));
    return {
      schema: fc.array(fc.oneof(...pairs), { minLength: 1, maxLength: 4 }).map((some) => withoutBlind(some)),
      part: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie("schema")),
    };
  }).schema;
}

function rename(map: Readonly<Record<string, JsonValue>>): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(map).map(([name, part]) => [`^${name}`, part]));
}

/** The input side, off the wire, as a face takes it. */
function take(schema: JsonSchema, value: JsonValue): Validated {
  const validator = fromJsonSchema(schema);
  const { codec, wrapped } = toInputSchema(validator, "probe");
  const args = wrapped ? { value } : value;
  const checked = validate(validator, codec.decode(args));
  if (checked instanceof Promise) throw new TypeError("it answers at once");
  return checked;
}

/**
 * Tells whether the oracle accepts a value; `undefined` where the code that it generates fails: `not: {}` below `allOf` uses a
 * variable that is not declared, and some combinations set a field of one that is `undefined`.
 */
function isAcceptedBy(accepts: (value: JsonValue) => unknown, value: JsonValue): boolean | undefined {
  try {
    return accepts(value) === true;
  } catch (cause) {
    if (cause instanceof ReferenceError || cause instanceof TypeError) return undefined;
    throw cause;
  }
}

describe("fromJsonSchema()", () => {
  it("fromJsonSchema() accepts exactly what the schema accepts, and hands it on as it came", () => {
    const property = fc.property(schemasOf(true), fc.array(values, { minLength: 1, maxLength: 8 }), (schema, given) => {
      const { wrapped } = toInputSchema(fromJsonSchema(schema), "probe");
      const accepts = ajv.compile(schema);
      for (const value of given) {
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        const checked = take(schema, value);
        const isAccepted = isAcceptedBy(accepts, value);
        expect(checked.ok).toBe(isAccepted === undefined ? checked.ok : isAccepted && (wrapped || isObject));
        expect("issues" in checked ? checked.issues.length > 0 : checked.value === value).toBe(true);
      }
    });
    fc.assert(property, { numRuns: draws(80, 250) });
  });

  it.each([
    ["refuses an array", [], false],
    ["refuses an array", ["b"], false],
    ["accepts an array", ["a", "b"], true],
    ["accepts an array", ["a", 1, "b"], true],
  ])(
    "fromJsonSchema() %s when there is a tuple and something that it must contain, and it is %j",
    (...[, given, ok]) => {
      const schema = { prefixItems: [{ const: "a" }], contains: { const: "b" } };
      expect(take(schema, given).ok).toBe(ok);
    },
  );

  // Of arms that agents could not tell apart they are told "any of", so there is more in what they read.
  it("fromJsonSchema() accepts exactly what agents are told when nothing in the schema excludes its neighbours", () => {
    const property = fc.property(
      schemasOf(false),
      fc.array(values, { minLength: 1, maxLength: 8 }),
      (schema, given) => {
        const { json, wrapped } = toInputSchema(fromJsonSchema(schema), "probe");
        const advertised = ajv.compile(json);
        for (const value of given) {
          const isAccepted = isAcceptedBy(advertised, wrapped ? { value } : value);
          const { ok } = take(schema, value);
          expect(ok).toBe(isAccepted ?? ok);
        }
      },
    );
    fc.assert(property, { numRuns: draws(80, 250) });
  });

  it("fromJsonSchema() accepts nothing that agents are told it refuses", () => {
    const property = fc.property(schemasOf(true), fc.array(values, { minLength: 1, maxLength: 8 }), (schema, given) => {
      const { json, wrapped } = toInputSchema(fromJsonSchema(schema), "probe");
      const accepted = given.filter((value) => take(schema, value).ok);
      const advertised = ajv.compile(json);
      const isRefused = (value: JsonValue): boolean => isAcceptedBy(advertised, wrapped ? { value } : value) === false;
      expect(accepted.filter(isRefused)).toEqual([]);
    });
    fc.assert(property, { numRuns: draws(80, 250) });
  });

  it.each<[string, JsonSchema, JsonValue]>([
    ["not", { not: { oneOf: [{ type: "string" }, { minLength: 1 }] } }, "abc"],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    ["if", { if: { oneOf: [{ type: "string" }, { minLength: 1 }] }, then: false }, "abc"],
    [
      "contains",
      { contains: { oneOf: [{ type: "string" }, { minLength: 1 }] }, maxContains: 0, minContains: 0 },
      ["a"],
    ],
    [
      "not of a recursive schema",
      { properties: { a: { not: { $ref: "#" } } }, additionalProperties: false },
      { a: { b: 1 } },
    ],
  ])("fromJsonSchema() tells agents of no value that it is refused when it is accepted: below %s", (...row) => {
    const [, schema, value] = row;
    const { json, wrapped } = toInputSchema(fromJsonSchema(schema), "probe");
    expect([take(schema, value).ok, ajv.compile(json)(wrapped ? { value } : value)]).toEqual([true, true]);
  });

  it("fromJsonSchema() follows references and recursion to the end, where agents are told that anything goes", () => {
    const tree: JsonSchema = {
      $ref: "#/$defs/tree",
      $defs: {
        leaf: { $anchor: "leaf", type: "integer" },
        tree: {
          type: "object",
          properties: { value: { $ref: "#leaf" }, next: { $ref: "#/$defs/tree" } },
          additionalProperties: false,
        },
      },
    };
    expect(take(tree, { value: 1, next: { next: { value: 2 } } }).ok).toBe(true);
    expect(take(tree, { next: { next: { value: "2" } } })).toEqual({
      ok: false,
      issues: [{ path: "next.next.value", message: "expected integer, received string" }],
    });
    expect(toInputSchema(fromJsonSchema(tree), "probe").json).toMatchObject({
      properties: { next: { description: expect.stringContaining("Recursive") } },
    });
  });

  it("fromJsonSchema() names the place of each field that is missing, wrong or too many", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { a: { type: "array", items: { type: "string", minLength: 2 } }, b: {} },
      required: ["b"],
      additionalProperties: false,
    };
    expect(take(schema, { a: ["ok", "😀"], c: 1 })).toEqual({
      ok: false,
      issues: [
        { path: "a.1", message: "expected at least 2 characters" },
        { path: "c", message: "expected nothing" },
      ],
    });
    expect(take(schema, { a: [] })).toEqual({
      ok: false,
      issues: [{ path: "b", message: "expected a value, received nothing" }],
    });
  });

  it("fromJsonSchema() takes for a field only what is one of the object's own", () => {
    expect(take({ type: "object", required: ["toString"] }, {}).ok).toBe(false);
    expect(take({ type: "object", dependentRequired: { toString: ["a"] } }, {}).ok).toBe(true);
    const closed: JsonSchema = { type: "object", properties: { a: {} }, additionalProperties: false };
    expect(take(closed, JSON.parse('{"__proto__": 1}') as JsonValue).ok).toBe(false);
    expect(take(closed, { constructor: 1 }).ok).toBe(false);
  });

  it("fromJsonSchema() takes a value that is no object under its key, and says so to agents", () => {
    const { json, wrapped } = toInputSchema(fromJsonSchema({ type: "string" }), "probe");
    expect([wrapped, json]).toEqual([true, expect.objectContaining({ type: "object", required: ["value"] })]);
    expect(take({ type: "string" }, "text")).toEqual({ ok: true, value: "text" });
    expect(validate(fromJsonSchema({ type: "string" }), undefined)).toMatchObject({
      issues: [{ path: "", message: "expected a value, received nothing" }],
    });
  });

  it("fromJsonSchema() writes what a handler answers as JSON before it is held against the schema", () => {
    const schema = fromJsonSchema({
      type: "object",
      properties: { at: { type: "string" } },
      additionalProperties: false,
    });
    const at = new Date(0);
    expect(validate(schema, { at, gone: undefined })).toEqual({ ok: true, value: { at: at.toISOString() } });
    expect(toOutputSchema(schema, "probe")?.codec.stringify({ at: "now" })).toBe('{"at":"now"}');
    expect(validate(schema, new Map())).toMatchObject({ ok: false, issues: [{ message: "expected JSON" }] });
    expect(validate(fromJsonSchema({ properties: {} }), "text")).toMatchObject({ ok: false });
  });

  it("fromJsonSchema() holds what it was given, whatever becomes of that afterwards, and is the same for the same", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const validator = fromJsonSchema(schema);
    toInputSchema(validator, "probe");
    schema.properties.a.type = "number";
    expect(validate(validator, { a: "text" })).toMatchObject({ ok: true });
    expect(fromJsonSchema(schema)).toBe(validator);
  });

  const self: Record<string, unknown> = { type: "object" };
  self["properties"] = { self };

  function deep(levels: number): JsonSchema {
    return levels === 0 ? {} : { properties: { a: deep(levels - 1) } };
  }

  it.each<[string, unknown, string]>([
    ["a keyword that nobody holds", { properties: { a: { unevaluatedProperties: false } } }, "properties.a"],
    ["a dynamic reference", { $dynamicRef: "#x" }, "$dynamicRef"],
    ["a keyword of an older draft", { dependencies: { a: ["b"] } }, "dependencies"],
    ["a bound of an older draft", { minimum: 1, exclusiveMinimum: true }, "exclusiveMinimum"],
    ["a tuple of an older draft", { items: [{ type: "string" }] }, "items"],
    ["what OpenAPI had", { type: "string", nullable: true }, "nullable"],
    ["a keyword in another case", { maxlength: 3 }, "maxLength"],
    ["a bound that is no number", { minLength: "3" }, "minLength"],
    ["a negative count", { maxItems: -1 }, "maxItems"],
    ["an unknown type", { type: "text" }, "type"],
    ["an empty enum", { enum: [] }, "enum"],
    ["an empty union", { anyOf: [] }, "anyOf"],
    ["a union of no schemas", { anyOf: ["string"] }, "anyOf"],
    ["a property that is no schema", { properties: { a: "string" } }, "properties"],
    ["a pattern that does not compile", { pattern: "(" }, "pattern"],
    ["a key pattern that does not compile", { patternProperties: { "(": {} } }, "patternProperties"],
    ["a pattern that nobody wrote", { pattern: "a".repeat(1025) }, "pattern"],
    ["a reference to somewhere else", { $ref: "https://example.com/schema" }, "https://example.com/schema"],
    ["a reference to nothing", { properties: { a: { $ref: "#/$defs/none" } } }, "#/$defs/none"],
    [
      "a reference into what is no schema",
      { $ref: "#/$defs/a/default", $defs: { a: { default: { type: 1 } } } },
      "type",
    ],
    ["a schema within with a name of its own", { $defs: { a: { $id: "x" } } }, "$id"],
    ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }, "$schema"],
    ["a marker of ours", { "~wire": "date" }, "~wire"],
    ["a schema that holds itself", self, "JSON"],
    ["a schema that is too deep", deep(70), "64 levels"],
    ["a schema of too many parts", { anyOf: Array.from({ length: 10_001 }, () => ({})) }, "10000"],
    ["a schema that is too long", { description: "x".repeat(1_048_577) }, "1048576"],
    ["a list", [], "object"],
  ])("fromJsonSchema() is refused where it is converted for %s, by its name and place", (...row) => {
    const [, schema, named] = row;
    // For sources that cast.
    const convert = (): unknown => toInputSchema(fromJsonSchema(schema as JsonSchema), 'operation "x"');
    expect(convert).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
    expect(convert).toThrow('operation "x"');
    expect(convert).toThrow(named);
  });

  it.each<[string, JsonValue | undefined]>([
    ["an object", {}],
    ["a number", 1],
    ["nothing", undefined],
  ])("fromJsonSchema() refuses a schema that is too long with its references when it validates %s", (_what, value) => {
    const fields = Array.from({ length: 20 }, (_none, index) => `a${index}`);
    const big = { type: "string", enum: Array.from({ length: 40 }, (_none, index) => `${index}${"x".repeat(900)}`) };
    const properties = Object.fromEntries(fields.map((name) => [name, { $ref: "#/$defs/big" }]));
    const schema = fromJsonSchema({ type: "object", properties, $defs: { big } });
    expect(() => schema["~standard"].validate(value)).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
  });

  it("fromJsonSchema() takes formats, comments and words that the dialect does not know as notes", () => {
    const schema = { type: "string", format: "email", $comment: "who", markdownDescription: "*who*", "x-order": 1 };
    expect(take(schema, "not an address").ok).toBe(true);
    expect(toInputSchema(fromJsonSchema(schema), "probe").json).toMatchObject({
      properties: { value: { format: "email" } },
    });
  });
});
