import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonValue } from "../../src/schema/json.ts";
import { type Schema, withJsonSchema } from "../../src/schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import { anyCodec } from "../../src/schema/wire-codec.ts";
import type { WireCodec } from "../../src/schema/wire-codec.ts";
import { toDate } from "../../src/schema/wire-forms.ts";

const when = "2026-01-02T03:04:05.000Z";
const codecOf = (schema: Schema): WireCodec => toOutputSchema(schema, "t")?.codec ?? expect.unreachable();
const inputOf = (schema: Schema): WireCodec => toInputSchema(schema, "t").codec;

function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof SurfaceError && error.code === "UNSERIALISABLE") return error.message;
    throw error;
  }
  return "accepted";
}

class Point {
  readonly x = 1;
}
const cycle: Record<string, unknown> = { b: { c: [] } };
cycle["b"] = { c: [0, cycle] };
let deep: unknown = 1;
for (let level = 0; level < 2000; level++) deep = [deep];

const refused: [string, unknown, string][] = [
  ["a cycle", { a: cycle }, 'cannot write "a.b.c.1" as JSON: found a cycle, need a JSON value'],
  ["endless depth", deep, "found more than 512 levels deep"],
  ["a bigint", { a: [1n] }, 'cannot write "a.0" as JSON: found a bigint'],
  ["NaN", { a: Number.NaN }, 'cannot write "a" as JSON: found NaN'],
  ["Infinity", [Number.POSITIVE_INFINITY], 'cannot write "0" as JSON: found Infinity'],
  ["an invalid date", { a: new Date(Number.NaN) }, 'cannot write "a" as JSON: found an invalid Date'],
  ["a function", { a: () => 1 }, 'cannot write "a" as JSON: found a function'],
  ["a symbol", { a: Symbol("s") }, 'cannot write "a" as JSON: found a symbol'],
  ["undefined in an array", { a: [1, undefined] }, 'cannot write "a.1" as JSON: found undefined'],
  ["a Map", { a: new Map() }, 'cannot write "a" as JSON: found an instance of Map'],
  ["a Set", { a: new Set() }, 'cannot write "a" as JSON: found an instance of Set'],
  ["a class", { a: new Point() }, 'cannot write "a" as JSON: found an instance of Point'],
  ["a root", Symbol("s"), 'cannot write "(root)" as JSON: found a symbol'],
];

describe("stringify() of a schema", () => {
  const closed = z.object({ a: z.number() });
  const open = z.looseObject({ b: z.any() });
  it.each<[string, Schema]>([
    ["a closed part before an open one", z.intersection(closed, open)],
    ["an open part before a closed one", z.intersection(open, closed)],
  ])("looks at fields that only one part allows when there is %s", (_, schema) => {
    const codec = codecOf(schema);
    expect(codec.stringify({ a: 1, b: "x" })).toBe('{"a":1,"b":"x"}');
    expect(refusal(() => codec.stringify({ a: 1, b: new Map() }))).toContain('cannot write "b" as JSON');
    expect(refusal(() => codec.stringify({ a: 1, b: 1, c: Number.NaN }))).toContain('cannot write "c" as JSON');
  });
});

describe("anyCodec", () => {
  it.each(refused)("anyCodec.encode() and stringify() refuse with the path when given %s", (_, value, message) => {
    expect(refusal(() => anyCodec.encode(value))).toContain(message);
    expect(refusal(() => anyCodec.stringify(value))).toContain(message);
  });

  it("anyCodec.encode() writes JSON, dates and toJSON when given them", () => {
    const value = {
      a: new Date(when),
      b: undefined,
      c: { toJSON: () => ({ d: new Date(when) }) },
      e: [null, true, "x", 1],
    };
    expect(anyCodec.encode(value)).toEqual({ a: when, c: { d: when }, e: [null, true, "x", 1] });
    expect(Object.keys(anyCodec.encode(value) ?? {})).toEqual(["a", "c", "e"]);
    expect(anyCodec.stringify(undefined)).toBe("null");
    expect(value.a).toBeInstanceOf(Date);
  });

  it("anyCodec.encode() shares what is JSON already when nothing changes", () => {
    const value = { a: [{ b: 1 }] };
    expect(anyCodec.encode(value)).toBe(value);
    const shared = { s: 1 };
    expect(anyCodec.stringify([shared, shared])).toBe('[{"s":1},{"s":1}]');
  });

  it("anyCodec.encode() keeps an own __proto__ key when it must copy", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"u":1}');
    const wire = anyCodec.encode({ ...(value as object), d: new Date(when) });
    expect(Object.getPrototypeOf(wire)).toBe(Object.prototype);
    expect(JSON.stringify(wire)).toBe(`{"__proto__":{"polluted":true},"u":1,"d":"${when}"}`);
  });

  it("anyCodec round trips when given any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(anyCodec.stringify(json)).toBe(JSON.stringify(json));
        expect(anyCodec.decode(anyCodec.encode(json))).toEqual(json);
      }),
    );
  });
});

describe("codec.stringify()", () => {
  const plain = z.object({ a: z.string(), n: z.number().optional(), l: z.array(z.int()), t: z.tuple([z.boolean()]) });

  it("codec.stringify() is one bare JSON.stringify when a zod schema is JSON all the way down", () => {
    // A getter shows the walk: JSON.stringify reads it once, encode and stringify would read it twice.
    let reads = 0;
    const value = {
      get a() {
        reads += 1;
        return "x";
      },
      l: [1],
      t: [true],
    };
    expect(codecOf(plain).stringify(value)).toBe('{"a":"x","l":[1],"t":[true]}');
    expect(reads).toBe(1);
  });

  it("codec.stringify() refuses when a plain schema's value breaks its promise", () => {
    expect(refusal(() => codecOf(plain).stringify(cycle))).toContain("a cycle");
    expect(refusal(() => codecOf(plain).stringify({ a: 1n }))).toContain('"a" as JSON: found a bigint');
  });

  it.each([
    ["a default", z.object({ n: z.number().default(Number.NaN) }), {}],
    ["a catch", z.object({ n: z.number().catch(Number.NaN) }), { n: "x" }],
    ["an overwrite", z.object({ n: z.number().overwrite(() => Number.POSITIVE_INFINITY) }), { n: 1 }],
    ["an optional item", z.object({ l: z.array(z.string().optional()) }), { l: [undefined] }],
    ["a loose key", z.looseObject({ a: z.string() }), { a: "x", b: () => 1 }],
    ["a transform", z.object({ a: z.string().transform(() => 1n) }), { a: "x" }],
  ])("codec.stringify() looks at the value when zod lets it through by %s", (_, schema, given) => {
    expect(refusal(() => codecOf(schema).stringify(schema.parse(given)))).toContain("as JSON: found");
  });

  it("codec.stringify() looks at the value when another library vouches for it", () => {
    const open = withJsonSchema(
      { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } },
      { type: "object", properties: { n: { type: "number" } }, additionalProperties: false },
    );
    expect(refusal(() => codecOf(open).stringify({ n: Number.NaN }))).toContain('"n" as JSON: found NaN');
  });

  it("codec.stringify() writes bigints and containers only where the schema declares them", () => {
    const schema = z.object({ n: z.bigint(), any: z.unknown() });
    expect(codecOf(schema).stringify({ n: 5n, any: { d: new Date(when) } })).toBe(`{"n":"5","any":{"d":"${when}"}}`);
    expect(refusal(() => codecOf(schema).stringify({ n: 5n, any: [5n] }))).toContain('"any.0" as JSON: found a bigint');
    expect(refusal(() => codecOf(z.bigint()).stringify(10n ** 5000n))).toContain("more than 4,096 digits");
  });
});

describe("codec.decode()", () => {
  it("codec.decode() returns the value itself when nothing in the schema has a wire form", () => {
    const value = { a: [{ b: "2026-01-01" }] };
    expect(inputOf(z.object({ a: z.array(z.object({ b: z.iso.date() })) })).decode(value)).toBe(value);
  });

  it.each(["yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00", "5", "", "2026-13-01"])(
    "codec.decode() leaves text alone when it is no date: %j",
    (text) => {
      expect(inputOf(z.object({ at: z.date() })).decode({ at: text })).toEqual({ at: text });
    },
  );

  it("codec.decode() leaves values alone when they do not look like the wire form", () => {
    const codec = inputOf(z.object({ n: z.bigint(), m: z.map(z.string(), z.string()), s: z.set(z.string()) }));
    const odd: JsonValue = { n: "1.5", m: [["a"], "b"], s: { a: 1 } };
    expect(codec.decode(odd)).toEqual(odd);
    expect(codec.decode({ n: "9".repeat(5000), m: null, s: 1 })).toEqual({ n: "9".repeat(5000), m: null, s: 1 });
    expect(codec.decode([1])).toEqual([1]);
  });

  it("codec.decode() takes the plain arm when a union's date could also be text", () => {
    const schema = z.object({ v: z.union([z.date(), z.string()]), w: z.union([z.date(), z.number()]) });
    expect(inputOf(schema).decode({ v: when, w: when })).toEqual({ v: when, w: new Date(when) });
    expect(inputOf(z.object({ v: z.union([z.set(z.string()), z.array(z.string())]) })).decode({ v: ["a"] })).toEqual({
      v: ["a"],
    });
  });

  it("codec.decode() chooses the arm by its tag when arms differ below", () => {
    const schema = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), v: z.string() }),
      z.object({ kind: z.literal("b"), v: z.date(), m: z.map(z.bigint(), z.date()) }),
    ]);
    expect(inputOf(schema).decode({ kind: "a", v: when })).toEqual({ kind: "a", v: when });
    const value = { kind: "b", v: new Date(when), m: new Map([[1n, new Date(when)]]) };
    expect(inputOf(schema).decode(codecOf(schema).encode(value))).toEqual(value);
  });

  it("codec.decode() reaches every depth when a schema is recursive through a map", () => {
    interface Node {
      at: Date;
      kids: Map<string, Node>;
    }
    const Node: z.ZodType<Node> = z.object({
      at: z.date(),
      get kids() {
        return z.map(z.string(), Node);
      },
    });
    const leaf = { at: new Date(when), kids: new Map() };
    const value = { at: new Date(when), kids: new Map([["a", { at: new Date(when), kids: new Map([["b", leaf]]) }]]) };
    expect(inputOf(Node).decode(codecOf(Node).encode(value))).toEqual(value);
  });

  it("codec.decode() merges what each side knows when a schema is an intersection", () => {
    const sides = z.intersection(z.object({ a: z.date() }).describe("A"), z.looseObject({ b: z.bigint() }));
    const value = { a: new Date(when), b: 5n };
    expect(codecOf(sides).encode(value)).toEqual({ a: when, b: "5" });
    expect(inputOf(sides).decode({ a: when, b: "5" })).toEqual(value);
  });

  it("codec.decode() does not reach a prototype when a key is __proto__", () => {
    const codec = inputOf(z.record(z.string(), z.date()));
    const decoded = codec.decode(JSON.parse(`{"__proto__":"${when}","constructor":"${when}"}`) as JsonValue);
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
    expect(Object.keys(decoded as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("codec.decode() answers soon when overlapping arms nest", { timeout: 5000 }, () => {
    interface Expr {
      l: Expr | null;
      op: string;
      at: Date;
    }
    const Expr: z.ZodType<Expr> = z.lazy(() =>
      z.union(["a", "b", "c"].map((op) => z.object({ l: Expr.nullable(), at: z.date(), op: z.literal(op) }))),
    );
    let json: JsonValue = { l: null, at: when, op: "c" };
    for (let level = 0; level < 60; level++) json = { l: json, at: when, op: "c" };
    expect(inputOf(Expr).decode(json)).toMatchObject({
      at: new Date(when),
      l: { at: new Date(when), l: { at: new Date(when) } },
    });
  });

  it("codec.decode() unwraps and encode() wraps when the schema is no object", () => {
    const codec = codecOf(z.array(z.date()));
    expect(codec.encode([new Date(when)])).toEqual({ value: [when] });
    expect(codec.stringify([new Date(when)])).toBe(`{"value":["${when}"]}`);
    expect(codec.decode({ value: [when] })).toEqual([new Date(when)]);
    for (const odd of [{}, null, [], "x", { other: 1 }]) expect(codec.decode(odd)).toBeUndefined();
    expect(codecOf(z.string().optional()).stringify(undefined)).toBe("{}");
  });
});

const Everything = z.object({
  date: z.date(),
  maybe: z.date().nullable().optional(),
  big: z.bigint(),
  map: z.map(z.string(), z.object({ at: z.date() })),
  set: z.set(z.bigint()),
  record: z.record(z.string(), z.union([z.number(), z.date()])),
  tuple: z.tuple([z.string(), z.date()], z.bigint()),
  tagged: z.discriminatedUnion("k", [
    z.object({ k: z.literal(1), v: z.set(z.date()) }),
    z.object({ k: z.literal(2), v: z.array(z.string()) }),
  ]),
});
const date = fc.date({ noInvalidDate: true });
const everything: fc.Arbitrary<z.infer<typeof Everything>> = fc.record(
  {
    date,
    maybe: fc.option(date, { nil: null }),
    big: fc.bigInt(),
    map: fc.array(fc.tuple(fc.string(), fc.record({ at: date }))).map((entries) => new Map(entries)),
    set: fc.array(fc.bigInt()).map((items) => new Set(items)),
    record: fc.dictionary(fc.string(), fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), date)),
    tuple: fc.tuple(fc.string(), date, fc.bigInt()),
    tagged: fc.oneof(
      fc.record({ k: fc.constant(1 as const), v: fc.array(date).map((items) => new Set(items)) }),
      fc.record({ k: fc.constant(2 as const), v: fc.array(fc.string()) }),
    ),
  },
  { requiredKeys: ["date", "big", "map", "set", "record", "tuple", "tagged"] },
);

describe("codec, for any value", () => {
  it("codec.decode() gives back what stringify() wrote, and the input is not mutated", () => {
    const codec = codecOf(Everything);
    fc.assert(
      fc.property(everything, (value) => {
        const copy = structuredClone(value);
        const text = codec.stringify(value);
        const wire = JSON.parse(text) as JsonValue;
        // JSON has no negative zero.
        const numbers = Object.fromEntries(
          Object.entries(value.record).map(([key, item]) => [key, item === 0 ? 0 : item]),
        );
        expect(codec.decode(wire)).toEqual({ ...value, record: numbers });
        expect(JSON.stringify(wire)).toBe(text);
        expect(value).toEqual(copy);
      }),
    );
  });

  it("toDate() reads what toISOString() writes, for any date", () => {
    fc.assert(
      fc.property(date, (value) => {
        expect(toDate(value.toISOString())).toEqual(value);
      }),
    );
  });
});
