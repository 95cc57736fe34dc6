import { type as ark } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { renderIssues } from "../../src/schema/render-issues.ts";
import type { Schema } from "../../src/schema/standard.ts";
import { validate, validateInput } from "../../src/schema/validate.ts";
import type { Validated } from "../../src/schema/validate.ts";

function run(schema: Schema, value: unknown): Validated {
  const result = validate(schema, value);
  if (result instanceof Promise) throw new TypeError("expected a synchronous answer");
  return result;
}

function issuesOf(schema: Schema, value: unknown): string[] {
  const result = run(schema, value);
  return result.ok ? [] : result.issues.map(({ path, message }) => `${path}|${message}`);
}

/** A schema that answers what it is told. */
function answering(result: unknown): Schema {
  return { "~standard": { version: 1, vendor: "fake", validate: () => result as { value: unknown } } };
}

describe("validate()", () => {
  it("validate() answers at once with the parsed value when the schema is synchronous", () => {
    expect(run(z.object({ n: z.coerce.number().default(2) }), {})).toEqual({ ok: true, value: { n: 2 } });
    expect(run(ark({ a: "string" }), { a: "x" })).toEqual({ ok: true, value: { a: "x" } });
    expect(run(v.object({ a: v.string() }), { a: "x" })).toEqual({ ok: true, value: { a: "x" } });
  });

  it("validate() answers with a promise when the schema is asynchronous", async () => {
    const schema = z.string().refine(async (text) => text === "ok", "not ok");
    await expect(validate(schema, "ok")).resolves.toEqual({ ok: true, value: "ok" });
    await expect(validate(schema, "no")).resolves.toEqual({ ok: false, issues: [{ path: "", message: "not ok" }] });
  });

  it("validate() waits when the schema answers with a thenable that is no native promise", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library is what is under test
    const foreign = { then: (done: (result: unknown) => void) => done({ issues: [{ message: "refused" }] }) };
    await expect(validate(answering(foreign), 1)).resolves.toEqual({
      ok: false,
      issues: [{ path: "", message: "refused" }],
    });
  });

  it("validate() gives dotted paths when the fault is nested", () => {
    const schema = z.object({ a: z.object({ b: z.array(z.string()) }) });
    expect(issuesOf(schema, { a: { b: [1] } })).toEqual(["a.b.0|Invalid input: expected string, received number"]);
    expect(issuesOf(v.object({ a: v.array(v.number()) }), { a: ["x"] })[0]).toMatch(/^a\.0\|/);
    expect(issuesOf(ark({ a: { b: "string" } }), { a: { b: 1 } })[0]).toMatch(/^a\.b\|/);
  });

  it("validate() passes on what the validator throws when it throws", () => {
    const fault = new TypeError("secret");
    const throwing: Schema = {
      "~standard": {
        version: 1,
        vendor: "fake",
        validate: () => {
          throw fault;
        },
      },
    };
    expect(() => validate(throwing, 1)).toThrow(fault);
    const refine = z.string().refine(() => {
      throw fault;
    });
    expect(() => validate(refine, "x")).toThrow(fault);
  });

  it("validate() keeps 5 issues of under 2 KiB when there are many long ones", () => {
    const issues = Array.from({ length: 50 }, () => ({
      message: "é".repeat(100_000),
      path: Array.from({ length: 1000 }, () => "ключ".repeat(50)),
    }));
    const result = run(answering({ issues }), 1);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.issues).toHaveLength(5);
    expect(Buffer.byteLength(renderIssues(result.issues))).toBeLessThan(2048);
    expect(result.issues[0]?.message).toMatch(/^é+…$/);
  });

  it("validate() strips control characters when messages or paths carry them", () => {
    const path = ["a\u0000\nb", { key: Symbol("s\u009b31m") }];
    expect(issuesOf(answering({ issues: [{ message: "x\u001b[31m\ty\u2028z", path }] }), 1)).toEqual([
      "a b.s 31m|x [31m y z",
    ]);
  });

  it("validate() survives when a sloppy validator's message is no string", () => {
    expect(issuesOf(answering({ issues: [{}] }), 1)).toEqual(["|undefined"]);
  });

  it("validate() says what each option disliked when a union fails", () => {
    const schema = z.union([z.string(), z.object({ a: z.number() })]);
    expect(issuesOf(schema, { a: "1" })).toEqual([
      "|no option fits: Invalid input: expected string, received object; or a: Invalid input: expected number, received string",
    ]);
    const tagged = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a") }),
      z.object({ kind: z.literal("b") }),
    ]);
    expect(issuesOf(tagged, { kind: "c" })).toEqual(["kind|Invalid discriminator value. Expected 'a' | 'b'"]);
  });

  it("validate() stays bounded when a union is recursive and wide", () => {
    type Tree = { errors: unknown[]; message: string };
    let issue: Tree = { errors: [], message: "leaf" };
    for (let level = 0; level < 40; level++) {
      issue = { message: "Invalid input", errors: Array.from({ length: 9 }, () => [issue]) };
    }
    expect(issuesOf(answering({ issues: [issue] }), 1)[0]).toMatch(/^\|no option fits: .*and 5 more options$/);
  });
});

describe("renderIssues()", () => {
  it.each<[string, Schema]>([
    ["zod", z.object({ a: z.date(), b: z.bigint(), c: z.set(z.string()), d: z.map(z.string(), z.string()) })],
    ["valibot", v.object({ a: v.date(), b: v.bigint(), c: v.set(v.string()), d: v.map(v.string(), v.string()) })],
    ["arktype", ark({ a: "Date", b: "bigint", c: "Set", d: "Map" })],
  ])("validateInput() names the form that travels when %s expects what JSON cannot hold", async (_library, schema) => {
    const checked = await validateInput(schema, { a: "soon", b: "x", c: "x", d: "x" });
    const messages = checked.ok ? [] : checked.issues.map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining("an ISO 8601 date-time string"),
      expect.stringContaining("an integer as a decimal string"),
      expect.stringContaining("an array"),
      expect.stringContaining("an array of [key, value] pairs"),
    ]);
    expect(messages.join()).not.toMatch(/\b(date|bigint|set|map)\b(?!-)/i);
  });

  it("renderIssues() writes one line an issue when there are several", () => {
    const issues = [
      { path: "node", message: "expected string" },
      { path: "", message: "unknown key" },
    ];
    expect(renderIssues(issues)).toBe("- node: expected string\n- (root): unknown key");
  });

  it("renderIssues() prefixes paths when the value is wrapped", () => {
    const issues = [
      { path: "0", message: "m" },
      { path: "", message: "m" },
    ];
    expect(renderIssues(issues, "value")).toBe("- value.0: m\n- value: m");
  });

  it("renderIssues() stays under 2 KiB and in its lines when given unbounded issues", () => {
    const issues = Array.from({ length: 9 }, () => ({ path: "p\n".repeat(999), message: "😀".repeat(999) }));
    const text = renderIssues(issues);
    expect(Buffer.byteLength(text)).toBeLessThan(2048);
    expect(text.split("\n")).toHaveLength(5);
    expect(text).not.toMatch(/\ud83d(?![\ude00-\udfff])/);
  });
});
