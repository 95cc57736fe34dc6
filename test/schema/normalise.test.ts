import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { normalise } from "../../src/schema/normalise.ts";
import { SchemaDocument } from "../../src/schema/schema-document.ts";

const run = (root: unknown, isPooled?: boolean) => normalise(new SchemaDocument(root), isPooled);
const text = { type: "string" };
const recursive = { description: "Recursive: the same shape as an enclosing value" };

describe("normalise()", () => {
  it("normalise() inlines a reference wherever a schema may stand", () => {
    const $ref = "#/$defs/t";
    const root = {
      type: "object",
      $defs: { t: text, u: { $ref } },
      properties: {
        property: { $ref },
        nested: { $ref: "#/$defs/u" },
        nullable: { anyOf: [{ $ref }, { type: "null" }] },
      },
      additionalProperties: { type: "array", items: { $ref } },
      patternProperties: { "^x": { type: "array", prefixItems: [{ $ref }], items: { $ref } } },
      propertyNames: { $ref },
      dependentSchemas: { a: { $ref } },
      not: { $ref },
      if: { $ref },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      then: { $ref },
      else: { $ref },
    };
    expect(run(root)).toEqual({
      type: "object",
      properties: { property: text, nested: text, nullable: { anyOf: [text, { type: "null" }] } },
      patternProperties: { "^x": { type: "array", prefixItems: [text], items: text } },
      propertyNames: text,
      additionalProperties: { type: "array", items: text },
      dependentSchemas: { a: text },
      not: text,
      if: text,
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      then: text,
      else: text,
    });
  });

  it("normalise() hoists the target when the root itself is a reference", () => {
    expect(run({ $ref: "#/$defs/X", $defs: { X: { type: "object", properties: { a: text } } } })).toEqual({
      type: "object",
      properties: { a: text },
    });
  });

  it("normalise() resolves every local form when references use pointers, anchors, ids and escapes", () => {
    const root = {
      properties: {
        pointer: { $ref: "#/properties/list/items/0" },
        list: { items: [text, { type: "number" }] },
        anchor: { $ref: "#here" },
        id: { $ref: "T0" },
        escaped: { $ref: "#/definitions/a~1b%20c" },
        within: { $id: "inner", $ref: "#/$defs/own", $defs: { own: { type: "boolean" } } },
      },
      definitions: {
        "a/b c": { type: "integer" },
        n: { $anchor: "here", type: "null" },
        t: { $id: "T0", type: "array" },
      },
    };
    expect(run(root)["properties"]).toEqual({
      pointer: text,
      list: { prefixItems: [text, { type: "number" }] },
      anchor: { type: "null" },
      id: { type: "array" },
      escaped: { type: "integer" },
      within: { type: "boolean" },
    });
  });

  it("normalise() keeps siblings when a reference has them", () => {
    const $defs = {
      n: { type: "number", description: "theirs", minimum: 1 },
      o: { type: "object", properties: { a: text } },
    };
    const root = {
      $defs,
      properties: {
        annotated: { $ref: "#/$defs/n", description: "mine", default: 3 },
        narrowed: { $ref: "#/$defs/n", maximum: 9 },
        clashing: { $ref: "#/$defs/n", minimum: 5, description: "mine" },
        extended: { $ref: "#/$defs/o", properties: { b: text } },
      },
    };
    expect(run(root)["properties"]).toEqual({
      annotated: { type: "number", description: "mine", minimum: 1, default: 3 },
      narrowed: { type: "number", description: "theirs", minimum: 1, maximum: 9 },
      clashing: { description: "mine", allOf: [{ type: "number", description: "theirs", minimum: 1 }, { minimum: 5 }] },
      extended: { allOf: [{ type: "object", properties: { a: text } }, { properties: { b: text } }] },
    });
  });

  it("normalise() leaves data alone when it looks like a schema", () => {
    const data = { $ref: "#/$defs/x", $schema: "s", $id: "i", type: "Date", format: "no" };
    const root = { type: "object", default: data, enum: [data], examples: [data] };
    expect(run(root)).toEqual(root);
  });

  it("normalise() takes names for names when a property is called like a keyword", () => {
    const names = { $ref: text, default: text, format: text, $id: text, enum: text, "~standard": text, $defs: text };
    expect(run({ type: "object", properties: names })).toEqual({ type: "object", properties: names });
  });

  it("normalise() keeps an own __proto__ property when there is one", () => {
    const root: unknown = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(JSON.stringify(run(root))).toBe(JSON.stringify(root));
  });

  it("normalise() accepts anything of its type and says so when a schema is recursive", () => {
    const node = { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } }, required: ["kids"] };
    expect(run(node)).toEqual({
      type: "object",
      properties: { kids: { type: "array", items: { type: "object", ...recursive } } },
      required: ["kids"],
    });
    const mutual = {
      $ref: "#/$defs/a",
      $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { title: "B", items: { $ref: "#/$defs/a" } } },
    };
    expect(run(mutual)).toEqual({ items: { title: "B", items: recursive } });
    expect(run({ title: "Me", $ref: "#" })).toEqual({ title: "Me", description: "Recursive: the same shape as Me" });
  });

  it("normalise() says what hosts understand when a schema has oneOf, const, or several types", () => {
    const root = { oneOf: [text, { type: "array", items: { $ref: "#" } }], description: "d" };
    expect(run(root)).toEqual({ description: "d", anyOf: [text, { type: "array", items: recursive }] });
    expect(run({ const: "a" })).toEqual({ type: "string", enum: ["a"] });
    expect(run({ const: null })).toEqual({ type: "null" });
    expect(run({ enum: ["a", 1, null] })).toEqual({
      anyOf: [{ type: "string", enum: ["a"] }, { type: "number", enum: [1] }, { type: "null" }],
    });
    expect(run({ type: ["string", "null"], minLength: 1, description: "d" })).toEqual({
      description: "d",
      anyOf: [{ type: "string", minLength: 1 }, { type: "null" }],
    });
    expect(run({ type: ["string", "integer", "null"], enum: ["a", 2, null] })).toEqual({
      anyOf: [{ type: "string", enum: ["a"] }, { type: "integer", enum: [2] }, { type: "null" }],
    });
  });

  it("normalise() refuses by size when references repeat a large part", () => {
    const large = { type: "string", description: "d".repeat(4_000) };
    const fields = Array.from({ length: 1_000 }, (_, index) => [`f${index}`, { $ref: "#/$defs/large" }]);
    const root = { type: "object", properties: Object.fromEntries(fields), $defs: { large } };
    expect(() => run(root)).toThrow("more than 524288 characters long with its references written out");
  });

  it.each(["https://example.org/s.json", "other.json#/x", "#/$defs/missing", "#nowhere"])(
    "normalise() refuses with the path when the reference is %s",
    ($ref) => {
      const attempt = () => run({ properties: { a: { items: { $ref } } } });
      expect(attempt).toThrow(SurfaceError);
      expect(attempt).toThrow(`at "properties.a.items": resolve the reference "${$ref}"`);
    },
  );

  it("normalise() drops what 2020-12 does not have when nodes carry it", () => {
    const root = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      "~standard": {},
      $comment: "c",
      nullable: true,
      "x-kept": { a: 1 },
      properties: {
        a: { $schema: "s", $id: "urn:a", type: "string", format: "includes", pattern: "[" },
        b: { type: "string", format: "uuid", required: [] },
        c: true,
        d: false,
        e: { items: [text], additionalItems: false },
        f: { prefixItems: [text], items: false, maxItems: 5 },
      },
    };
    expect(run(root)).toEqual({
      properties: {
        a: text,
        b: { type: "string", format: "uuid" },
        c: {},
        d: { not: {} },
        e: { prefixItems: [text], maxItems: 1 },
        f: { prefixItems: [text], maxItems: 1 },
      },
      "x-kept": { a: 1 },
    });
  });

  it("normalise() degrades foreign types when TypeBox wrote them", () => {
    const root = {
      properties: {
        d: { type: "Date" },
        n: { type: "bigint" },
        s: { type: "symbol" },
        u: { anyOf: [text, { type: "undefined" }] },
      },
    };
    expect(run(root)["properties"]).toEqual({
      d: { type: "string", format: "date-time" },
      n: { type: "string", description: "Integer as a decimal string", pattern: "^-?[0-9]+$" },
      s: { description: "Has no JSON form: symbol" },
      u: text,
    });
  });

  it("normalise() opens members of an intersection when keys are pooled", () => {
    const closed = { type: "object", additionalProperties: false };
    expect(run({ allOf: [closed, { anyOf: [closed] }] }, true)).toEqual({
      allOf: [{ type: "object" }, { anyOf: [{ type: "object" }] }],
    });
    expect(run({ allOf: [closed, closed] })).toEqual({ allOf: [closed, closed] });
  });

  it("normalise() stays bounded when a schema doubles at each level", () => {
    const $defs: Record<string, unknown> = { n0: text };
    for (let level = 1; level <= 40; level++) {
      const $ref = `#/$defs/n${level - 1}`;
      $defs[`n${level}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
    }
    const json = JSON.stringify(run({ $ref: "#/$defs/n40", $defs }));
    expect(json.length).toBeLessThan(2_000_000);
    expect(json).toContain("Left out: the schema has more than 10000 nodes");
  });

  it("normalise() cuts at 64 levels when a schema is deeper", () => {
    let root: unknown = text;
    for (let level = 0; level < 500; level++) root = { type: "array", items: root };
    expect(JSON.stringify(run(root))).toContain("Left out: more than 64 levels deep");
  });

  it("normalise() keeps properties in declared order and keywords in one order", () => {
    const root = { required: ["b"], properties: { b: { maxLength: 2, type: "string" }, a: text }, type: "object" };
    expect(JSON.stringify(run(root))).toBe(
      '{"type":"object","properties":{"b":{"type":"string","maxLength":2},"a":{"type":"string"}},"required":["b"]}',
    );
  });
});

const name = fc.constantFrom("a", "b", "$ref", "default", "format", "__proto__", "enum");
const ref = fc.constantFrom("#", "#/$defs/a", "#/$defs/b");
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      { type: "string" },
      { type: "integer", minimum: 0 },
      true,
      {},
      { const: { $ref: "x" } },
      { enum: [1, "a"] },
    ),
    fc.record({ $ref: ref, description: fc.string() }, { requiredKeys: ["$ref"] }),
    fc.record({ type: fc.constant("array"), items: tie("schema"), format: fc.string() }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), default: fc.jsonValue() }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(name, tie("schema")),
      $id: fc.constant("urn:x"),
    }),
  ),
}));
const documents = fc
  .record({ a: schema, b: schema })
  .map(($defs) => ({ properties: { p: $defs.a, q: { $ref: "#/$defs/b" } }, $defs }));

/** The schema with the data taken out, where a `$ref` would be text. */
const withoutData = (json: unknown): string =>
  JSON.stringify(json, (key, value: unknown) => (["default", "const", "enum", "examples"].includes(key) ? 0 : value));

describe("normalise(), for any schema", () => {
  const ajv = new Ajv2020({ strict: false });

  it("normalise() leaves no reference, is idempotent, mutates nothing and emits valid 2020-12", () => {
    fc.assert(
      fc.property(documents, (root) => {
        const before = JSON.stringify(root);
        const once = run(root);
        expect(JSON.stringify(root)).toBe(before);
        expect(withoutData(once)).not.toMatch(/"\$(ref|id|schema)":"/);
        expect(JSON.stringify(run(once))).toBe(JSON.stringify(once));
        expect(ajv.validateSchema(once)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
