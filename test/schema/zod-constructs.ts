import * as z from "zod";

/** One zod construct: what an agent sends for it, and what a handler returns for it. */
export interface Construct {
  readonly schema: z.ZodType;
  /** As the agent sends it (wrapped where the schema is). Left out where no JSON is accepted. */
  readonly sent?: unknown;
  /** What a handler hands in to the output side; left out: the decoded `sent`. */
  readonly returned?: unknown;
  /** Set where the output has no JSON form: the value cannot be written. */
  readonly unwritable?: true;
}

interface Tree {
  at: Date;
  kids: Tree[];
}

const Tree: z.ZodType<Tree> = z.object({
  at: z.date(),
  get kids() {
    return z.array(Tree);
  },
});

interface Branch {
  next?: Branch | undefined;
}

const Branch: z.ZodType<Branch> = z.lazy(() => z.object({ next: Branch.optional() }));
const Named = z.object({ id: z.string() }).meta({ id: "ConstructNamed", description: "A named thing" });
const isoCodec = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const when = "2026-01-02T03:04:05.000Z";
const wrap = (value: unknown) => ({ value });

/** Every construct that zod's converter treats in its own way. */
export const constructs: Readonly<Record<string, Construct>> = {
  string: { schema: z.string().min(1).max(9), sent: wrap("x") },
  number: { schema: z.number().gte(0).lt(10).multipleOf(0.5), sent: wrap(1.5) },
  int: { schema: z.int(), sent: wrap(3) },
  boolean: { schema: z.boolean(), sent: wrap(true) },
  null: { schema: z.null(), sent: wrap(null) },
  any: { schema: z.any(), sent: wrap({ a: [1] }) },
  unknown: { schema: z.unknown(), sent: wrap("x") },
  never: { schema: z.object({ a: z.never().optional() }), sent: {} },
  date: { schema: z.object({ at: z.date() }), sent: { at: when } },
  "date with bounds": { schema: z.object({ at: z.date().min(new Date(0)) }), sent: { at: when } },
  "coerce.date": { schema: z.object({ at: z.coerce.date() }), sent: { at: when } },
  bigint: { schema: z.object({ n: z.bigint().min(0n) }), sent: { n: "12345678901234567890" } },
  int64: { schema: z.object({ n: z.int64() }), sent: { n: "-5" } },
  symbol: { schema: z.object({ s: z.symbol() }), returned: { s: Symbol("s") }, unwritable: true },
  undefined: { schema: z.object({ u: z.undefined() }), returned: { u: undefined } },
  void: { schema: z.void(), sent: {} },
  map: { schema: z.object({ m: z.map(z.string(), z.date()) }), sent: { m: [["a", when]] } },
  set: { schema: z.object({ s: z.set(z.bigint()) }), sent: { s: ["1", "2"] } },
  nan: { schema: z.object({ n: z.nan() }), returned: { n: Number.NaN }, unwritable: true },
  custom: { schema: z.object({ c: z.custom((value) => typeof value === "string") }), sent: { c: "x" } },
  instanceof: { schema: z.object({ u: z.instanceof(URL) }), returned: { u: new URL("https://example.org/") } },
  function: { schema: z.object({ f: z.function() }), returned: { f: () => 1 }, unwritable: true },
  literal: { schema: z.literal("a"), sent: wrap("a") },
  "literal list": { schema: z.literal(["a", 1, null, true]), sent: wrap(1) },
  "literal bigint": { schema: z.object({ l: z.literal([1n, "a"]) }), sent: { l: "1" } },
  "literal undefined": { schema: z.object({ l: z.literal(["a", undefined]) }), sent: { l: "a" } },
  enum: { schema: z.enum(["a", "b"]), sent: wrap("b") },
  transform: { schema: z.object({ n: z.string().transform(Number) }), sent: { n: "5" }, returned: { n: "5" } },
  pipe: { schema: z.object({ n: z.string().pipe(z.coerce.number()) }), sent: { n: "5" }, returned: { n: "5" } },
  codec: { schema: z.object({ at: isoCodec }), sent: { at: when }, returned: { at: when } },
  stringbool: { schema: z.object({ b: z.stringbool() }), sent: { b: "yes" }, returned: { b: "no" } },
  preprocess: { schema: z.object({ n: z.preprocess(Number, z.number()) }), sent: { n: 5 } },
  "preprocess absent": { schema: z.object({ n: z.preprocess((n) => n ?? 5, z.number()) }), sent: {} },
  "transform alone": {
    schema: z.object({ n: z.transform((n) => n ?? 5), t: z.transform(Number).pipe(z.number()) }),
    sent: { t: 1 },
  },
  default: { schema: z.object({ a: z.string().default("x"), at: z.date().default(new Date(0)) }), sent: {} },
  "default bigint": { schema: z.object({ n: z.bigint().default(5n) }), sent: {} },
  "default map": { schema: z.object({ m: z.map(z.string(), z.bigint()).default(new Map([["a", 1n]])) }), sent: {} },
  prefault: { schema: z.object({ a: z.string().prefault("x") }), sent: {} },
  catch: { schema: z.object({ a: z.string().catch("x") }), sent: { a: "y" } },
  optional: { schema: z.object({ a: z.string().optional(), b: z.string().nullish() }), sent: { b: null } },
  "optional root": { schema: z.string().optional(), sent: {} },
  "optional object root": { schema: z.object({ a: z.string() }).optional(), sent: { a: "x" } },
  nonoptional: { schema: z.object({ a: z.string().optional().nonoptional() }), sent: { a: "x" } },
  object: { schema: z.object({ b: z.string(), a: z.number() }), sent: { b: "x", a: 1 } },
  strictObject: { schema: z.strictObject({ a: z.number() }), sent: { a: 1 } },
  looseObject: { schema: z.looseObject({ a: z.number() }), sent: { a: 1, more: ["x"] } },
  catchall: { schema: z.object({ a: z.number() }).catchall(z.date()), sent: { a: 1, at: when } },
  "property named like a keyword": {
    schema: z.object({ $ref: z.string(), default: z.string(), format: z.string(), $id: z.string(), enum: z.date() }),
    sent: { $ref: "#", default: "x", format: "y", $id: "z", enum: when },
  },
  record: { schema: z.record(z.string(), z.date()), sent: { a: when } },
  "record of enum": { schema: z.record(z.enum(["a", "b"]), z.number()), sent: { a: 1, b: 2 } },
  "record of numbers": { schema: z.record(z.number(), z.string()), sent: { 1: "x" } },
  partialRecord: { schema: z.partialRecord(z.enum(["a", "b"]), z.number()), sent: { a: 1 } },
  looseRecord: { schema: z.looseRecord(z.string().regex(/^x-/), z.date()), sent: { "x-at": when, other: 1 } },
  array: { schema: z.array(z.date()).min(1), sent: wrap([when]) },
  tuple: { schema: z.tuple([z.string(), z.date()]), sent: wrap(["x", when]) },
  "tuple with rest": { schema: z.tuple([z.string()], z.bigint()), sent: wrap(["x", "1", "2"]) },
  "tuple with optional": { schema: z.tuple([z.string(), z.number().optional()]), sent: wrap(["x"]) },
  union: { schema: z.union([z.string(), z.number()]), sent: wrap(5) },
  "union of objects": { schema: z.union([z.object({ a: z.date() }), z.object({ b: z.string() })]), sent: { a: when } },
  "union with undefined": { schema: z.object({ u: z.union([z.string(), z.undefined()]) }), sent: { u: "x" } },
  xor: { schema: z.object({ x: z.xor([z.string(), z.number()]) }), sent: { x: "a" } },
  nullable: { schema: z.object({ a: z.string().nullable(), at: z.date().nullable() }), sent: { a: null, at: when } },
  "nullable root": { schema: z.object({ a: z.string() }).nullable(), sent: wrap(null) },
  discriminatedUnion: {
    schema: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("on"), at: z.date() }),
      z.object({ kind: z.literal("off"), at: z.string() }),
    ]),
    sent: { kind: "on", at: when },
  },
  intersection: {
    schema: z.intersection(z.object({ a: z.string() }), z.object({ at: z.date() })),
    sent: { a: "x", at: when },
  },
  "intersection that does not fold": {
    schema: z.intersection(z.object({ a: z.string() }).describe("A"), z.object({ at: z.date() })),
    sent: { a: "x", at: when },
  },
  "intersection with a union": {
    schema: z.intersection(
      z.object({ a: z.string() }),
      z.union([z.object({ at: z.date() }), z.object({ n: z.int() })]),
    ),
    sent: { a: "x", at: when },
  },
  "recursive getter": { schema: Tree, sent: { at: when, kids: [{ at: when, kids: [] }] } },
  "recursive lazy": { schema: Branch, sent: { next: { next: {} } } },
  json: { schema: z.json(), sent: wrap({ a: [1, null, "x"] }) },
  templateLiteral: { schema: z.templateLiteral(["v", z.number()]), sent: wrap("v5") },
  readonly: { schema: z.object({ a: z.array(z.string()).readonly() }), sent: { a: ["x"] } },
  brand: { schema: z.object({ a: z.string().brand<"A">() }), sent: { a: "x" } },
  refine: { schema: z.object({ a: z.string().refine((text) => text !== "") }), sent: { a: "x" } },
  superRefine: { schema: z.object({ a: z.string().superRefine(() => {}) }), sent: { a: "x" } },
  overwrite: {
    schema: z.object({ n: z.number().overwrite((n) => n + 1), t: z.string().trim() }),
    sent: { n: 1, t: "a" },
  },
  regex: { schema: z.object({ a: z.string().regex(/^a+$/) }), sent: { a: "aa" } },
  "regex with flags": {
    schema: z.object({ a: z.string().regex(/^a+$/i).regex(/a/), b: z.string().regex(/^b$/i) }),
    sent: { a: "AAa", b: "B" },
  },
  file: { schema: z.object({ f: z.file() }), returned: { f: new File(["x"], "x.txt") }, unwritable: true },
  "async promise": { schema: z.object({ p: z.promise(z.string()) }) },
  formats: {
    schema: z.object({
      email: z.email().optional(),
      uuid: z.uuid().optional(),
      guid: z.guid().optional(),
      url: z.url().optional(),
      datetime: z.iso.datetime().optional(),
      localDatetime: z.iso.datetime({ local: true }).optional(),
      date: z.iso.date().optional(),
      time: z.iso.time().optional(),
      duration: z.iso.duration().optional(),
      ipv4: z.ipv4().optional(),
      ipv6: z.ipv6().optional(),
      cidrv4: z.cidrv4().optional(),
      jwt: z.jwt().optional(),
      emoji: z.emoji().optional(),
      mac: z.mac().optional(),
      hash: z.hash("sha256").optional(),
      base64: z.base64().optional(),
      nanoid: z.nanoid().optional(),
    }),
    sent: { url: "https://example.org", datetime: when, emoji: "🙂" },
  },
  includes: {
    schema: z.object({ a: z.string().includes("b"), c: z.string().startsWith("d") }),
    sent: { a: "b", c: "d" },
  },
  "meta with an id": {
    schema: z.object({ a: Named, b: Named.nullable(), c: z.array(Named) }),
    sent: { a: { id: "x" }, b: null, c: [] },
  },
  "meta with an id at the root": { schema: Named, sent: { id: "x" } },
  "meta over a degraded form": {
    schema: z.object({
      at: z.coerce.date().meta({ format: "date", description: "a day" }),
      d: z.date().describe("a day"),
    }),
    sent: { at: "2026-01-02", d: when },
  },
  "meta that is not JSON": {
    schema: z.object({ n: z.bigint().meta({ examples: [5n], title: "N", f: () => 1 }) }),
    sent: { n: "5" },
  },
};
