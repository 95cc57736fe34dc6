import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { fromJsonSchema } from "../../src/schema/from-json-schema.ts";
import type { JsonSchema } from "../../src/schema/json.ts";
import { compileLinearPattern } from "../../src/schema/linear-pattern.ts";
import { toInputSchema } from "../../src/schema/to-input-schema.ts";
import { validate, type Validated } from "../../src/schema/validate.ts";

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
  const quantifiers = fc.constantFrom("", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?");
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

function outcomeOf(check: () => Validated | Promise<Validated>): "fits" | "refused" | "too much" {
  try {
    const checked = check();
    return "ok" in checked && checked.ok ? "fits" : "refused";
  } catch (cause) {
    if (cause instanceof SurfaceError && cause.code === "SCHEMA_UNSUPPORTED") return "too much";
    throw cause;
  }
}

describe("a pattern of a foreign schema", () => {
  it("accepts what the engine of JavaScript accepts", () => {
    const runs = fc.tuple(patterns.filter(compiles), fc.array(texts, { minLength: 1, maxLength: 8 }));
    fc.assert(
      fc.property(runs, ([pattern, all]) => {
        const matches = compileLinearPattern(pattern);
        for (const text of all.map((chars) => chars.join(""))) {
          expect([pattern, text, matches?.(text, () => {})]).toEqual([
            pattern,
            text,
            new RegExp(pattern, "u").test(text),
          ]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("reads characters and not their halves", () => {
    const matches = (pattern: string, text: string): unknown => compileLinearPattern(pattern)?.(text, () => {});
    expect(matches("^.$", "😀")).toBe(true);
    expect(matches(String.raw`^[\u{1F600}]+$`, "😀😀")).toBe(true);
    expect(matches(String.raw`^\uD83D\uDE00$`, "😀")).toBe(true);
    expect(matches("^[^😀]$", "😀")).toBe(false);
  });

  it.each([String.raw`(a)\1`, String.raw`(?<n>a)\k<n>`, "(?<=a)b", "(?<!a)b", "(?:(?:a{1000}){1000}){1000}"])(
    "is refused by name where the schema is read when it is %s",
    (pattern) => {
      expect(() => toInputSchema(fromJsonSchema({ type: "string", pattern }), 'operation "x"')).toThrow(
        /operation "x".*pattern/,
      );
    },
  );

  const text = (value: string): unknown => value;
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { next: nested(depth - 1) });

  it.each<[string, JsonSchema, unknown, "refused" | "too much"]>([
    ["nested repetition", { type: "string", pattern: "^(a+)+$" }, text(`${"a".repeat(33)}!`), "refused"],
    ["nested repetition, long", { type: "string", pattern: "^(a+)+$" }, text(`${"a".repeat(100_000)}!`), "refused"],
    ["a long run of blanks", { type: "string", pattern: String.raw`\s+$` }, text(`${" ".repeat(200_000)}x`), "refused"],
    ["overlapping alternatives", { type: "string", pattern: "^(a|a)*$" }, text(`${"a".repeat(5000)}b`), "refused"],
    ["look-ahead at each place", { type: "string", pattern: "(?=a*b)c" }, text("a".repeat(100_000)), "too much"],
    [
      "a pattern of keys",
      { patternProperties: { "^(a+)+$": {} }, additionalProperties: false },
      { [`${"a".repeat(33)}!`]: 1 },
      "refused",
    ],
    [
      "alternatives within alternatives",
      {
        $ref: "#/$defs/node0",
        $defs: Object.fromEntries(
          Array.from({ length: 26 }, (_, level) => {
            const arm = { type: "object", properties: { next: { $ref: `#/$defs/node${level + 1}` } } };
            return [`node${level}`, { anyOf: [arm, { ...arm, minProperties: 1 }] }];
          }).concat([["node26", { type: "string" } as never]]),
        ),
      },
      nested(26),
      "too much",
    ],
  ])("does not hold up the process: %s", { timeout: hangMs }, (...row) => {
    const [, schema, value, outcome] = row;
    const validator = fromJsonSchema({
      type: "object",
      properties: { value: schema },
      ...("$defs" in schema ? { $defs: schema["$defs"] ?? {} } : {}),
    });
    expect(outcomeOf(() => validate(validator, { value }))).toBe(outcome);
  });
});
