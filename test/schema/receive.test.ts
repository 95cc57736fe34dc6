import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import type { CompiledSchema } from "../../src/schema/compile-schema.ts";
import { isJsonObject } from "../../src/schema/json.ts";
import type { JsonObject, JsonValue } from "../../src/schema/json.ts";
import { createReceiver } from "../../src/schema/validator/compile-check.ts";
import type { Received } from "../../src/schema/validator/compile-check.ts";
import { type Schema, withJsonSchema } from "../../src/schema/standard.ts";
import { validate } from "../../src/schema/validate.ts";
import { constructs } from "./zod-constructs.ts";
import type { Construct } from "./zod-constructs.ts";
import { draws } from "../setup/test-length.ts";

const when = "2026-01-02T03:04:05.000Z";
const ajv = new Ajv2020({ strict: false, validateFormats: false });
// What has left its type on the way: toJSON() makes a text of the URL.
const changed = new Set(["instanceof"]);
const writable = Object.entries(constructs).filter(([name, construct]) => {
  return !changed.has(name) && construct.unwritable !== true && ("sent" in construct || "returned" in construct);
});
const anything = z.any();

const keys = fc.constantFrom("a", "b", "c", "ab");
const scalars = fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2.5, -3, "", "a", "ab", "abc");
const values: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const small = fc.integer({ min: 0, max: 3 });
// Without `oneOf`, which a reader takes for `anyOf`.
const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => {
  const schema = tie("schema");
  const part = fc.oneof({ weight: 5, arbitrary: schema }, { weight: 1, arbitrary: fc.boolean() });
  const arms = fc.array(schema, { minLength: 1, maxLength: 3 });
  const some = (record: Parameters<typeof fc.record>[0]) =>
    fc.record(record, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
  const objects = some({
    type: fc.constant("object"),
    properties: fc.dictionary(keys, schema, { maxKeys: 3 }),
    required: fc.uniqueArray(keys, { minLength: 1, maxLength: 2 }),
    additionalProperties: fc.oneof(fc.constant(false), part),
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), schema, { maxKeys: 2 }),
    propertyNames: fc.constantFrom<JsonObject>({ enum: ["a", "b"] }, { maxLength: 1 }, { pattern: "^a" }),
    minProperties: small,
    maxProperties: small,
    dependentRequired: fc.constant({ a: ["b"] }),
    dependentSchemas: fc.dictionary(keys, schema, { maxKeys: 1 }),
  });
  const arrays = some({
    type: fc.constant("array"),
    prefixItems: arms,
    items: part,
    minItems: small,
    maxItems: small,
    uniqueItems: fc.boolean(),
  });
  // Apart from `prefixItems`, beside which ajv 8.20 forgets about `contains`.
  const sought = some({ type: fc.constant("array"), contains: schema, minContains: small, maxContains: small });
  const leaves = fc.oneof(
    some({ type: fc.constant("string"), minLength: small, maxLength: small, pattern: fc.constantFrom("a", "^b") }),
    some({
      type: fc.constantFrom("number", "integer"),
      minimum: small,
      exclusiveMaximum: small,
      multipleOf: fc.constant(2),
    }),
    some({ type: fc.constantFrom<JsonValue>("boolean", "null", ["string", "null"], ["object", "number"]) }),
    fc.record({ enum: fc.array(values, { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<JsonObject>,
    fc.record({ const: values }) as fc.Arbitrary<JsonObject>,
  );
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  const joined = some({ anyOf: arms, allOf: arms, not: schema, if: schema, then: schema, else: schema });
  return {
    schema: fc.oneof(
      { depthSize: "xsmall", maxDepth: 3 },
      leaves,
      objects,
      arrays,
      sought,
      joined,
      fc.tuple(objects, joined).map(([one, other]) => ({ ...one, ...other })),
    ),
  };
}).schema;

function compiledOf(schema: Schema): CompiledSchema {
  const compiled = toOutputSchema(schema, "t");
  if (compiled === undefined) throw new TypeError("expected a schema");
  return compiled;
}

function receive(schema: Schema, json: unknown): Received {
  return createReceiver(compiledOf(schema))(json as JsonValue);
}

function byJson(json: JsonObject, value: unknown): Received {
  return receive(withJsonSchema(anything, json), value);
}

function bare({ codec, wrapped }: CompiledSchema, value: unknown): JsonValue | undefined {
  const json = codec.encode(value);
  return wrapped ? (json as JsonObject)["value"] : json;
}

function outputOf({ schema, ...construct }: Construct): unknown {
  const returned =
    "returned" in construct ? construct.returned : toInputSchema(schema, "t").codec.decode(construct.sent as JsonValue);
  const result = validate(schema, returned);
  if (result instanceof Promise || !result.ok) throw new TypeError("expected an output");
  return result.value;
}

function textOf({ codec, wrapped }: CompiledSchema, value: unknown): JsonValue | undefined {
  const json = JSON.parse(codec.stringify(value)) as JsonObject;
  return wrapped ? json["value"] : json;
}

/** Every value that differs from `json` in one place. */
function mutants(json: JsonValue): JsonValue[] {
  const others: JsonValue[] = [null, true, 1.25, "\u0000", [], {}, [[]], { a: {} }];
  if (Array.isArray(json)) {
    return [...others, ...json.flatMap((item, index) => mutants(item).map((other) => json.with(index, other)))];
  }
  if (!isJsonObject(json)) return others;
  return [
    ...others,
    { ...json, surplus: 1 },
    ...Object.entries(json).flatMap(([key, item]) => {
      const rest = Object.fromEntries(Object.entries(json).filter(([other]) => other !== key));
      return [rest, ...mutants(item ?? null).map((other) => ({ ...json, [key]: other }))];
    }),
  ];
}

describe("createReceiver()", () => {
  it.each(writable)("a receiver gives what was returned when it is %s", (_, construct) => {
    const compiled = compiledOf(construct.schema);
    const value = outputOf(construct);
    expect(createReceiver(compiled)(textOf(compiled, value))).toEqual({ ok: true, value });
  });

  it.each(writable)(
    "a receiver accepts only what ajv accepts of what it gives when it is sent another %s",
    (_, construct) => {
      const compiled = compiledOf(construct.schema);
      const check = ajv.compile(compiled.json);
      const receiver = createReceiver(compiled);
      for (const mutant of mutants(bare(compiled, outputOf(construct)) ?? null)) {
        const received = receiver(mutant);
        const isRight = received.ok ? check(compiled.codec.encode(received.value)) : received.issues.length > 0;
        expect({ isRight, mutant }).toEqual({ isRight: true, mutant });
      }
    },
  );

  it.each(writable)(
    "a receiver refuses only what ajv refuses, or what cannot be read, when it is sent another %s",
    (_, construct) => {
      const compiled = compiledOf(construct.schema);
      const check = ajv.compile(compiled.json);
      const receiver = createReceiver(compiled);
      for (const mutant of mutants(bare(compiled, outputOf(construct)) ?? null)) {
        if (!check(compiled.wrapped ? { value: mutant } : mutant)) continue;
        const received = receiver(mutant);
        const unread = /^(expected a date and time of ISO 8601|expected an integer as text|expected nothing, received)/;
        // Below recursion ajv is told that anything goes, and a receiver is not.
        const isCoded = JSON.stringify(compiled.json).includes('"date-time"');
        const isRecursive = JSON.stringify(compiled.json).includes("Recursive: ");
        const issues =
          received.ok || isRecursive
            ? []
            : received.issues.filter(
                ({ message }) => !unread.test(message) && !(isCoded && message === "no option fits"),
              );
        expect([issues, mutant]).toEqual([[], mutant]);
      }
    },
  );

  it("a receiver agrees with ajv when schemas and values are random", () => {
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 1, maxLength: 8 }), (json, candidates) => {
        const compiled = compiledOf(withJsonSchema(anything, json));
        const check = ajv.compile(compiled.json);
        const wrap = (value: unknown): unknown => (compiled.wrapped ? { value } : value);
        const receiver = createReceiver(compiled);
        for (const candidate of candidates) {
          const received = receiver(candidate);
          // What is right as it is, is handed on as it is.
          const isRight = check(wrap(candidate)) ? received.ok && received.value === candidate : true;
          expect({ isRight, isWrong: received.ok && !check(wrap(received.value)) }).toEqual({
            isRight: true,
            isWrong: false,
          });
        }
      }),
      { numRuns: draws(25, 100) },
    );
  });

  it("a receiver never throws when it is sent any JSON at all", () => {
    const receivers = writable.map(([, { schema }]) => createReceiver(compiledOf(schema)));
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        // fast-check gives what JSON.parse would.
        for (const receiver of receivers) expect(receiver(json as JsonValue)).toHaveProperty("ok");
      }),
    );
  });
});

describe("what a receiver drops", () => {
  const Node = z.object({ id: z.string(), at: z.date(), kids: z.array(z.object({ id: z.string() })) });

  it("a receiver drops the fields that a closed object does not know when the far end is newer", () => {
    const json = { id: "a", at: when, kids: [{ id: "b", since: 5 }], more: { a: 1 } };
    expect(receive(Node, json)).toEqual({ ok: true, value: { id: "a", at: new Date(when), kids: [{ id: "b" }] } });
    expect(json.kids[0]).toEqual({ id: "b", since: 5 });
  });

  it("a receiver hands on the very object when nothing is dropped or decoded", () => {
    const json = { a: [{ b: 1 }], c: "x" };
    const received = receive(z.object({ a: z.array(z.object({ b: z.number() })), c: z.string() }), json);
    expect(received.ok && received.value).toBe(json);
  });

  it("a receiver keeps and checks the fields of an open object when it has others", () => {
    expect(receive(z.looseObject({ a: z.number() }), { a: 1, more: 2 })).toEqual({
      ok: true,
      value: { a: 1, more: 2 },
    });
    expect(receive(z.object({ a: z.number() }).catchall(z.date()), { a: 1, more: 2 })).toMatchObject({ ok: false });
  });

  it("a receiver takes the arm that drops the fewest fields when several fit", () => {
    const schema = z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.string() })]);
    expect(receive(schema, { a: "x", b: "y", c: "z" })).toEqual({ ok: true, value: { a: "x", b: "y" } });
  });

  it("a receiver drops inside of the arm that a tag names when the far end is newer", () => {
    const schema = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("on"), at: z.date() }),
      z.object({ kind: z.literal("off"), at: z.string() }),
    ]);
    const value = { kind: "on", at: new Date(when) };
    expect(receive(schema, { kind: "on", at: when, more: 1 })).toEqual({ ok: true, value });
    expect(receive(schema, { kind: "on", at: 5, more: 1 })).toEqual({
      ok: false,
      issues: [{ path: "at", message: "expected string, received number" }],
    });
  });

  it("a receiver drops nothing and pollutes nothing when a field is called __proto__", () => {
    const json = JSON.parse(`{ "__proto__": { "isAdmin": true }, "constructor": 1, "more": 1 }`) as JsonValue;
    const received = receive(z.object({ more: z.number() }), json);
    expect(received).toEqual({ ok: true, value: { more: 1 } });
    expect(received.ok && Object.keys(received.value as object)).toEqual(["more"]);
    const open = receive(z.record(z.string(), z.union([z.object({ a: z.number() }), z.number()])), {
      ...(json as JsonObject),
      x: { a: 1, b: 2 },
    });
    expect(open.ok).toBe(false);
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
  });

  it("a receiver keeps a field called __proto__ as a field when the schema has it", () => {
    const json = JSON.parse(`{ "__proto__": { "a": 1, "b": 2 }, "more": 1 }`) as JsonValue;
    const schema = {
      type: "object",
      properties: JSON.parse(
        `{ "__proto__": { "properties": { "a": {} }, "additionalProperties": false } }`,
      ) as JsonObject,
      additionalProperties: false,
    };
    const received = byJson(schema, json);
    expect(received.ok && JSON.stringify(received.value)).toBe(`{"__proto__":{"a":1}}`);
  });

  it("a receiver refuses what only dropping makes wrong when a constraint asks for the field", () => {
    expect(byJson({ properties: { a: {} }, required: ["b"], additionalProperties: false }, { b: 1 }).ok).toBe(false);
    const both = [{ required: ["b"] }, { properties: { a: {} }, additionalProperties: false }];
    expect(byJson({ type: "object", allOf: both }, { a: 1, b: 1 }).ok).toBe(false);
    expect(
      byJson({ type: "object", minProperties: 2, properties: { a: {} }, additionalProperties: false }, { a: 1, b: 1 })
        .ok,
    ).toBe(false);
  });

  it("a receiver drops nothing to answer a condition when it looks below not and if", () => {
    const closed = { type: "object", properties: { a: {} }, additionalProperties: false };
    expect(byJson({ not: closed }, { a: 1, b: 1 }).ok).toBe(true);
    expect(byJson({ not: closed }, { a: 1 }).ok).toBe(false);
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    const branch = { if: closed, then: { required: ["a"] }, else: { required: ["b"] } };
    expect(byJson(branch, { c: 1 }).ok).toBe(false);
    expect(byJson(branch, { a: 1, b: 1 })).toEqual({ ok: true, value: { a: 1, b: 1 } });
  });
});

describe("what a receiver says", () => {
  const Item = z.object({ name: z.string().max(3), n: z.int().min(1) });
  const issuesOf = (received: Received) => (received.ok ? "accepted" : received.issues);

  it("a receiver names every place when several are wrong", () => {
    const received = receive(z.object({ items: z.array(Item), at: z.date() }), {
      items: [{ name: "abcd", n: 1 }, { name: 5 }],
      at: "yesterday",
    });
    expect(issuesOf(received)).toEqual([
      { path: "items.0.name", message: "expected at most 3 characters" },
      { path: "items.1.name", message: "expected string, received number" },
      { path: "at", message: "expected a date and time of ISO 8601" },
    ]);
  });

  it("a receiver says no more than five things when thousands are wrong", () => {
    const received = receive(
      z.array(z.string()),
      Array.from({ length: 5000 }, (_, index) => index),
    );
    expect(issuesOf(received)).toHaveLength(5);
  });

  it("a receiver says what the one arm dislikes when the others are out of the question", () => {
    expect(issuesOf(receive(z.object({ item: Item.nullable() }), { item: { name: "a", n: 0 } }))).toEqual([
      { path: "item.n", message: "expected at least 1" },
    ]);
    expect(issuesOf(receive(z.union([z.string(), z.object({ a: z.number() })]), { a: "x" }))).toEqual([
      { path: "a", message: "expected number, received string" },
    ]);
    expect(issuesOf(receive(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}))).toEqual([
      { path: "", message: "no option fits" },
    ]);
  });

  it.each([
    ["a missing field", { type: "object", required: ["a"] }, {}, "a", "expected a value, received nothing"],
    ["a name", { type: "object", propertyNames: { enum: ["a"] } }, { b: 1 }, "b", 'expected one of "a"'],
    ["a value of many", { enum: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, 0, "", "expected one of 9 values"],
    ["too few items", { type: "array", minItems: 2 }, [1], "", "expected at least 2 items"],
    [
      "an item twice",
      { type: "array", uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "",
      "expected no item twice",
    ],
    [
      "too many of a kind",
      { type: "array", contains: { type: "null" }, maxContains: 1 },
      [null, null],
      "",
      "expected another number of certain items",
    ],
    ["a number without end", { type: "number" }, Number.POSITIVE_INFINITY, "", "expected number, received number"],
    ["a dependent field", { type: "object", dependentRequired: { a: ["b"] } }, { a: 1 }, "", 'expected "b" beside "a"'],
  ])("a receiver says so when %s is wrong", (...[_what, json, value, path, message]) => {
    expect(issuesOf(byJson(json as JsonObject, value))).toEqual([{ path, message }]);
  });

  it("a receiver shows no control characters when a peer's field has them", () => {
    const received = receive(z.record(z.string(), z.number()), { "a\u001b[2J\nb": "x" });
    expect(issuesOf(received)).toEqual([{ path: "a [2J b", message: "expected number, received string" }]);
  });
});

describe("what a receiver puts up with", () => {
  it("a receiver takes nothing for undefined when the schema allows it, and null too", () => {
    const optional = createReceiver(compiledOf(z.object({ a: z.date() }).optional()));
    expect(optional(undefined)).toEqual({ ok: true, value: undefined });
    expect(optional(null)).toEqual({ ok: true, value: undefined });
    expect(optional({ a: when })).toEqual({ ok: true, value: { a: new Date(when) } });
    expect(receive(z.string().nullish(), null)).toEqual({ ok: true, value: null });
    expect(receive(z.void(), null)).toEqual({ ok: true, value: undefined });
    expect(receive(z.string(), undefined)).toEqual({
      ok: false,
      issues: [{ path: "", message: "expected a value, received nothing" }],
    });
    expect(receive(z.string(), null)).toMatchObject({ ok: false });
  });

  it("a receiver refuses a value when the schema says that there is none", () => {
    expect(receive(z.object({ u: z.undefined() }), { u: 5 })).toMatchObject({ ok: false });
  });

  it("a receiver refuses an integer as text when it has more digits than are ever written", () => {
    expect(receive(z.bigint(), "1".repeat(4096))).toMatchObject({ ok: true });
    expect(receive(z.bigint(), "1".repeat(4097))).toEqual({
      ok: false,
      issues: [{ path: "", message: "expected an integer as text" }],
    });
  });

  it("a receiver counts characters as kindly as either way allows when they are not of one unit", () => {
    expect(receive(z.string().min(2), "🙂").ok).toBe(true);
    expect(byJson({ type: "string", maxLength: 1 }, "🙂").ok).toBe(true);
    expect(byJson({ type: "string", maxLength: 1 }, "🙂🙂").ok).toBe(false);
  });

  it("a receiver accepts a multiple when its quotient is not exact", () => {
    expect(receive(z.number().multipleOf(0.1), 0.3).ok).toBe(true);
    expect(receive(z.number().multipleOf(0.1), 0.35).ok).toBe(false);
  });

  it("a receiver refuses a recursive value when a part is wrong at any depth", () => {
    const schema = constructs["recursive getter"]?.schema ?? z.never();
    const tree = (leaf: unknown) => ({ at: when, kids: [{ at: when, kids: [{ at: when, kids: [leaf] }] }] });
    expect(receive(schema, tree({ at: when, kids: [], more: 1 }))).toMatchObject({ ok: true });
    expect(receive(schema, tree({ at: "never", kids: [] }))).toEqual({
      ok: false,
      issues: [{ path: "kids.0.kids.0.kids.0.at", message: "expected a date and time of ISO 8601" }],
    });
  });

  it("a receiver refuses what is deeper than anything that is written when it is sent that", () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 100_000; level++) deep = { next: deep };
    expect(receive(constructs["recursive lazy"]?.schema ?? z.never(), deep)).toEqual({
      ok: false,
      issues: [{ path: expect.stringMatching(/^next\.next.*…$/), message: "more than 512 levels deep" }],
    });
    let list: JsonValue = [];
    for (let level = 0; level < 100_000; level++) list = [list];
    expect(receive(z.json(), list)).toMatchObject({ ok: false });
    expect(byJson({ type: "array", uniqueItems: true }, [list])).toEqual({
      ok: false,
      issues: [{ path: "", message: "nested too deep" }],
    });
  });

  it("a receiver answers soon when alternatives overlap at every level of a recursive schema", () => {
    interface Knot {
      a?: Knot | undefined;
      b?: string | undefined;
    }
    const Knot: z.ZodType<Knot> = z.lazy(() =>
      z.union([
        z.object({ a: Knot.optional(), b: z.literal("x").optional() }),
        z.object({ a: Knot.optional(), b: z.literal("y").optional(), c: z.any() }),
      ]),
    );
    let knot: JsonValue = { b: "z" };
    for (let level = 0; level < 400; level++) knot = { a: knot, more: level };
    expect(receive(Knot, knot)).toMatchObject({ ok: false });
    const twice = {
      $defs: {
        t: { allOf: [{ $ref: "#/$defs/u" }, { $ref: "#/$defs/u" }] },
        u: { properties: { a: { $ref: "#/$defs/t" } }, additionalProperties: false },
      },
      $ref: "#/$defs/t",
    };
    expect(byJson(twice, knot)).toMatchObject({ ok: true });
  });

  it("a receiver accepts anything when a schema only refers to itself", () => {
    expect(byJson({ $ref: "#" }, 5)).toEqual({ ok: true, value: 5 });
    expect(byJson({ anyOf: [{ $ref: "#" }, { type: "string" }] }, 5)).toEqual({ ok: true, value: 5 });
  });

  it("a receiver applies what stands beside a reference to that place only when the target is recursive", () => {
    const schema = {
      $defs: { tree: { type: "object", properties: { kid: { $ref: "#/$defs/tree" }, name: { type: "string" } } } },
      $ref: "#/$defs/tree",
      required: ["name"],
    };
    expect(byJson(schema, { name: "a", kid: { kid: {} } })).toMatchObject({ ok: true });
    expect(byJson(schema, { kid: {} })).toMatchObject({ ok: false });
    expect(byJson(schema, { name: "a", kid: { kid: { name: 5 } } })).toMatchObject({ ok: false });
  });
});
