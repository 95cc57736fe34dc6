import { describe, expect, it } from "vitest";
import * as z from "zod";
import { checkInput, checkOutput, checkInputMasked } from "../../src/surface/check-value.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { schemaOf, failure, explode } from "./support.ts";

function createCheck() {
  const faults: Fault[] = [];
  return { faults, check: { where: "here", report: (fault: Fault) => void faults.push(fault) } };
}

const later = z.number().refine(async (value) => value > 0);

describe("checkInput()", () => {
  it("checkInput() returns the value of its schema, at once or later, and nothing without a schema", async () => {
    expect(checkInput(undefined, 5, "here")).toBeUndefined();
    expect(checkInput(z.number().default(3), undefined, "here")).toBe(3);
    await expect(checkInput(later, 1, "here")).resolves.toBe(1);
    await expect(checkInput(later, 0, "here")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(() => checkInput(z.number(), "x", "here")).toThrow(
      failure("VALIDATION_ERROR", "Cannot use here: the input does not fit"),
    );
    expect(() => checkInput(schemaOf(explode), 1, "here")).toThrow("secret");
  });
});

describe("checkInputMasked()", () => {
  it("checkInputMasked() masks an error of the schema, and is otherwise the same", async () => {
    const { check, faults } = createCheck();
    expect(checkInputMasked(undefined, 5, check)).toBeUndefined();
    expect(checkInputMasked(z.number(), 5, check)).toBe(5);
    expect(() => checkInputMasked(z.number(), "x", check)).toThrow(failure("VALIDATION_ERROR"));
    await expect(checkInputMasked(later, 0, check)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(faults).toEqual([]);
    expect(() => checkInputMasked(schemaOf(explode), 1, check)).toThrow(failure("INTERNAL"));
    await expect(
      checkInputMasked(
        schemaOf(async () => explode()),
        1,
        check,
      ),
    ).rejects.toMatchObject({ code: "INTERNAL" });
    expect(faults).toHaveLength(2);
  });
});

describe("checkOutput()", () => {
  it("checkOutput() passes on a value that fits and withholds others, with the issues for the log alone", async () => {
    const { check, faults } = createCheck();
    expect(checkOutput(undefined, "as it is", check)).toBe("as it is");
    expect(checkOutput(z.string().transform(Number), "5", check)).toBe(5);
    await expect(checkOutput(later, 1, check)).resolves.toBe(1);
    await expect(checkOutput(later, 0, check)).rejects.toMatchObject({ code: "INVALID_OUTPUT", issues: [] });
    expect(() => checkOutput(z.number(), "secret", check)).toThrow(
      expect.objectContaining({ code: "INVALID_OUTPUT", issues: [], message: expect.not.stringContaining("secret") }),
    );
    expect(faults).toMatchObject([{ cause: { issues: [{}] } }, { cause: { issues: [{}] } }]);
    expect(() => checkOutput(schemaOf(explode), 1, check)).toThrow(failure("INTERNAL"));
  });
});
