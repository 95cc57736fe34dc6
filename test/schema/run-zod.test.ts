import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { validate } from "../../src/schema/validate.ts";

describe("validate() of a zod schema with asynchronous checks", () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(() => process.off("unhandledRejection", note));

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  it("rejects as the check does, and leaves no rejection unhandled", async () => {
    const schema = z.object({ a: z.string().refine(() => Promise.reject(new Error("the check failed"))) });
    for (let run = 0; run < 3; run += 1) {
      await expect(validate(schema, { a: "x" })).rejects.toThrow("the check failed");
    }
    await settle();
    expect(unhandled).toEqual([]);
  });

  it.each([
    ["refine", (ran: () => void) => z.string().refine(async () => (ran(), true))],
    ["superRefine", (ran: () => void) => z.string().superRefine(async () => ran())],
    ["transform", (ran: () => void) => z.string().transform(async (value) => (ran(), value))],
    ["zod/mini", (ran: () => void) => mini.string().check(mini.refine(async () => (ran(), true)))],
  ])("runs each check once: %s", async (_name, create) => {
    let runs = 0;
    const schema = create(() => (runs += 1));
    expect(await validate(schema, "x")).toEqual({ ok: true, value: "x" });
    expect(runs).toBe(1);
    expect(await validate(schema, "x")).toEqual({ ok: true, value: "x" });
    expect(runs).toBe(2);
  });

  it("says what does not fit as it does without asynchronous checks", async () => {
    const shape = { a: z.string(), b: z.number().max(3) };
    const checked = z.object({ ...shape, c: z.string().refine(async () => false, "never fits") });
    const plain = validate(z.object(shape), { a: 1, b: 9 });
    expect(await validate(checked, { a: 1, b: 9, c: "x" })).toEqual({
      ok: false,
      issues: [...(plain instanceof Promise || plain.ok ? [] : plain.issues), { path: "c", message: "never fits" }],
    });
  });

  it("stays synchronous, and keeps the same issues, when no check is asynchronous", () => {
    const schema = z.object({ a: z.string() });
    const wrong = { ok: false, issues: [{ path: "a", message: "Invalid input: expected string, received number" }] };
    expect(validate(schema, { a: 1 })).toEqual(wrong);
    expect(validate(schema, { a: "x" })).toEqual({ ok: true, value: { a: "x" } });
    expect(validate(schema, { a: 1 })).toEqual(wrong);
  });
});
