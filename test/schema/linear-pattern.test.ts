import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromJsonSchema } from "../../src/schema/validator/from-json-schema.ts";
import type { JsonSchema } from "../../src/schema/json.ts";
import { compileLinearPattern } from "../../src/schema/validator/linear-pattern.ts";
import { toInputSchema } from "../../src/schema/compile-schema.ts";
import { validate } from "../../src/schema/validate.ts";
import { draws } from "../setup/test-length.ts";

/** A hang, and not a slow machine: without a bound each attack takes hours. */
const hangMs = 20_000;

const atoms = fc.constantFrom(
  ...["a", "b", ".", "[ab]", "[^a]", String.raw`\d`, String.raw`\w`, String.raw`\s`, String.raw`\S`, "😀", "[a-c😀]"],
  ...[
    String.raw`\.`,
    String.raw`\u{1F600}`,
    String.raw`\uD83D\uDE00`,
    String.raw`[\d\-]`,
    String.raw`\p{L}`,
    "[]",
    "[^]",
  ],
);
const patterns = fc.letrec<{ pattern: string }>((tie) => {
  const inner = tie("pattern");
  const quantifiers = fc.constantFrom(
    ...["", "*", "+", "?", "*?", "+?"],
    ...["{2}", "{1,}", "{0,2}", "{3,}", "{2,4}", "{0}", "{1,3}?"],
  );
  const group = fc.tuple(fc.constantFrom("(", "(?:", "(?<n>"), inner, quantifiers);
  return {
    pattern: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.tuple(atoms, quantifiers).map(([atom, quantifier]) => atom + quantifier),
      group.map(([open, pattern, quantifier]) => `${open}${pattern})${quantifier}`),
      fc.tuple(inner, inner).map(([first, second]) => first + second),
      fc.tuple(inner, inner).map(([first, second]) => `${first}|${second}`),
      fc.tuple(fc.constantFrom("(?=", "(?!"), inner).map(([open, pattern]) => `${open}${pattern})`),
      fc.constantFrom("^", "$", String.raw`\b`, ""),
    ),
  };
}).pattern;
// No character of two halves: V8 takes the place between them for one where an assertion may hold.
const texts = fc.array(fc.constantFrom("a", "b", "c", "1", ".", "-", " ", "\n", "é"), { maxLength: 8 });

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}

/** Validates a value and returns "fits" or the first issue. A fault would be thrown. */
function outcomeOf(schema: JsonSchema, value: unknown): string {
  const checked = validate(fromJsonSchema(schema), value);
  if (!("ok" in checked)) throw new TypeError("expected a synchronous schema");
  const [issue] = checked.ok ? [] : checked.issues;
  return issue === undefined ? "fits" : `${issue.path}: ${issue.message}`;
}

function ofValue(schema: JsonSchema): JsonSchema {
  return { type: "object", properties: { value: schema } };
}

const uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
const email = String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`;
const dateTime = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$`;

const line = (at: number): unknown => ({
  id: `0189f0a1-4bcd-7${String(at % 1000).padStart(3, "0")}-8abc-0123456789ab`,
  email: `first.last+${at}@mail.example.com`,
  created: "2026-11-23T09:00:00.000Z",
});
const lines = (count: number): readonly unknown[] => Array.from({ length: count }, (_, at) => line(at));
const textOf = (source: string): JsonSchema => ({ type: "string", pattern: source });
const overlapping = `^(?:${"a|".repeat(400)}a)*$`;

describe("a pattern of a foreign schema", () => {
  it("accepts what the engine of JavaScript accepts", () => {
    const runs = fc.tuple(patterns.filter(compiles), fc.array(texts, { minLength: 5, maxLength: 5 }));
    fc.assert(
      fc.property(runs, ([pattern, all]) => {
        const { matches } = compileLinearPattern(pattern);
        for (const text of all.map((chars) => chars.join(""))) {
          expect([pattern, text, matches?.(text, () => {})]).toEqual([
            pattern,
            text,
            new RegExp(pattern, "u").test(text),
          ]);
        }
      }),
      { seed: 20_261_123, numRuns: draws(1000, 4000) },
    );
  });

  it.each([
    ["^a{2,4}$", ["a", "aa", "aaaa", "aaaaa"]],
    ["^(?:ab|a{3}|[ab]{2,5}c)+$", ["abab", "aaaab", "abbac", "aababc", "ababababc", "abababbbbbbc"]],
    ["a{2}b{2,3}a", ["aabba", "aaabbba", "abbba", "aaaaabbbba", "aabbbba"]],
    ["^(?:a?){3}a{3}$", ["aa", "aaa", "aaaaaa", "aaaaaaa"]],
    ["^(?:x|.{2,3}y)*$", ["xabyx", "abycdey", "ayx", "abcdy", "yyy", "yyyyyy"]],
    ["(?=a{2,3}b)(?!a{3}).*c", ["aabc", "aaabc", "aaaabc", "xaab c"]],
    ["(?=.*(?=b.*c$)(?!bb))a", ["abc", "abbc", "acb", "bca", "abbbc"]],
    ["^[😀b]{2,3}$", ["😀😀", "😀b😀", "😀", "😀😀😀😀"]],
    [String.raw`^\W*\b\w+\b\W*$`, ["a", "_", "A9z", "Z{", "@A", "[`", "/0", ":9", "é", "aéa", "\u017F", "😀a"]],
    [String.raw`(?=😀+$)`, ["😀", "a😀😀", "😀a"]],
  ])("counts and looks ahead as the engine of JavaScript does: %s", (source, all) => {
    const { matches } = compileLinearPattern(source);
    const expected = all.map((each) => [each, new RegExp(source, "u").test(each)]);
    expect(all.map((each) => [each, matches?.(each, () => {})])).toEqual(expected);
  });

  it("reads characters and not their halves", () => {
    const matches = (pattern: string, text: string): unknown => compileLinearPattern(pattern).matches?.(text, () => {});
    expect(matches("^.$", "😀")).toBe(true);
    expect(matches(String.raw`^[\u{1F600}]+$`, "😀😀")).toBe(true);
    expect(matches(String.raw`^\uD83D\uDE00$`, "😀")).toBe(true);
    expect(matches("^[^😀]$", "😀")).toBe(false);
  });

  it.each([
    [String.raw`(a)\1`, "has a back reference"],
    [String.raw`(?<n>a)\k<n>`, "has a back reference"],
    ["(?<=a)b", "has a look-behind"],
    ["(?<!a)b", "has a look-behind"],
    ["(a", "is not a regular expression"],
    ["a".repeat(1025), "is longer than 1024 characters"],
    ["(?:(?:ab){1000}){1000}", "is too large"],
    ["(?=(?:(?=(?:ab){2000}c)d){40000})e", "is too large"],
    ["(?:(?:)*){9007199254740991}", "is too large"],
    [`(?:ab){${Number.MAX_SAFE_INTEGER}}`, "is too large"],
    [`a{2,${Number.MAX_SAFE_INTEGER}}`, "is too large"],
    ["^a{0,17000}$", "is too large"],
    ["(?=a)".repeat(33), "has more than 32 look-aheads"],
  ])("is refused at once, with its reason, when it is %s", { timeout: hangMs }, (source, reason) => {
    const convert = (schema: JsonSchema) => () => toInputSchema(fromJsonSchema(schema), 'operation "x"');
    expect(convert({ type: "string", pattern: source })).toThrow(`"pattern" ${reason}`);
    expect(convert({ patternProperties: { [source]: {} } })).toThrow(reason);
  });

  it.each([
    ["(?:){9007199254740991}", "x"],
    ["(?:(?:){300000000}){300000000}", "x"],
    ["(?:(?!(?:(?=(?:ab){400})){400})){400}", "x"],
    ["^a{0,16000}$", "aaa"],
    [String.raw`^[\s\S]{1,4096}$`, "x".repeat(4096)],
    ["^.{1,2600}$", "x".repeat(2600)],
    [String.raw`^[\w-]{1,256}(?:\.[\w-]{1,256}){0,20}$`, `${"a".repeat(256)}${".b".repeat(20)}`],
  ])("is read at once and accepts a text when it is %s", { timeout: hangMs }, (source, value) => {
    expect(outcomeOf(ofValue(textOf(source)), { value })).toBe("fits");
  });

  it("is refused when all patterns of the schema are too large together", { timeout: hangMs }, () => {
    const properties = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`p${at}`, { type: "string", pattern: `(?:ab|${at}){500}` }] as const),
    );
    expect(() => toInputSchema(fromJsonSchema({ type: "object", properties }), "it")).toThrow(/together/);
  });

  it.each<[string, JsonSchema, unknown]>([
    ["base64 of 700 KB", textOf("^[A-Za-z0-9+/]*={0,2}$"), "A".repeat(700_000)],
    ["a text of 1 MB that is not blank", textOf(String.raw`^(?!\s*$)[^]+$`), "a ".repeat(500_000)],
    [
      "5,000 lines of identifiers, addresses and dates",
      {
        type: "array",
        items: { type: "object", properties: { id: textOf(uuid), email: textOf(email), created: textOf(dateTime) } },
      },
      lines(5000),
    ],
    [
      "1,000 addresses whose parts are counted and overlap",
      { type: "array", items: { type: "object", properties: { email: textOf("^.{1,64}@.{1,255}$") } } },
      lines(1000),
    ],
  ])("accepts a large honest value: %s", { timeout: hangMs }, (...row) => {
    const [, schema, value] = row;
    expect(outcomeOf(ofValue(schema), { value })).toBe("fits");
  });

  it.each<[string, JsonSchema]>([
    ["by itself", textOf(overlapping)],
    ["below not", { not: textOf(overlapping) }],
    ["within an alternative", { anyOf: [textOf(overlapping), { type: "string", maxLength: 1 }] }],
    ["counts that overlap", textOf("(?:a{2,400}){15}$b")],
  ])("names the field of a value that takes too long to check: %s", { timeout: hangMs }, (...row) => {
    const [, schema] = row;
    expect(outcomeOf(ofValue(schema), { value: `${"a".repeat(200_000)}b` })).toBe(
      "value: too long to check against its pattern",
    );
  });

  it("names the field of a value that takes too many alternatives", { timeout: hangMs }, () => {
    const anyOf = Array.from({ length: 3000 }, (_, at) => ({ minimum: at + 1 }));
    anyOf.push({ minimum: 0 });
    const value = Array.from({ length: 1000 }, () => 0);
    expect(outcomeOf(ofValue({ type: "array", items: { anyOf } }), { value })).toMatch(
      /^value\.\d+: too large to check against its schema$/,
    );
  });

  it.each<[string, JsonSchema, unknown]>([
    ["nested repetition", textOf("^(a+)+$"), `${"a".repeat(33)}!`],
    ["nested repetition, long", textOf("^(a+)+$"), `${"a".repeat(100_000)}!`],
    ["a long run of blanks", textOf(String.raw`\s+$`), `${" ".repeat(200_000)}x`],
    ["overlapping alternatives", textOf("^(a|a)*$"), `${"a".repeat(5000)}b`],
    ["look-ahead at each place", textOf("(?=a*b)c"), "a".repeat(100_000)],
    [
      "a pattern of keys",
      { patternProperties: { "^(a+)+$": {} }, additionalProperties: false },
      { [`${"a".repeat(33)}!`]: 1 },
    ],
  ])("refuses a value made to hold up the process: %s", { timeout: hangMs }, (...row) => {
    const [, schema, value] = row;
    expect(outcomeOf(ofValue(schema), { value })).toMatch(/^value.*: expected (?:text that matches|nothing)/);
  });

  it("is refused where it is converted when alternatives within alternatives double at each level", () => {
    const nodes = Array.from({ length: 26 }, (_, level) => {
      const arm = { type: "object", properties: { next: { $ref: `#/$defs/node${level + 1}` } } };
      return [`node${level}`, { anyOf: [arm, { ...arm, minProperties: 1 }] }] as const;
    });
    const schema = { $ref: "#/$defs/node0", $defs: { ...Object.fromEntries(nodes), node26: { type: "string" } } };
    expect(() => outcomeOf(schema, {})).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
  });
});
