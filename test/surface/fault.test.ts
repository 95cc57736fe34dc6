import { afterEach, describe, expect, it, vi } from "vitest";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import { internalError, maskFault, reportToConsole, type Fault } from "../../src/surface/fault.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("maskFault()", () => {
  it("maskFault() lets a refusal and what was masked before through as they are, and reports neither", () => {
    const faults: Fault[] = [];
    const report = (fault: Fault): void => void faults.push(fault);
    const refusal = new Refusal("NO", "no", { a: 1 });
    const masked = new SurfaceError("INVALID_OUTPUT", "withheld", { correlationId: "c" });
    expect(maskFault(refusal, "here", report)).toBe(refusal);
    expect(maskFault(masked, "here", report)).toBe(masked);
    expect(faults).toEqual([]);
  });

  it.each(["TIMEOUT", "ABORTED", "CLOSED"] as const)("maskFault() keeps the code %s in plain words", (code) => {
    const cause = new SurfaceError(code, 'Using member "secret"');
    const masked = maskFault(cause, "here", () => {});
    expect(masked).toMatchObject({ code, cause });
    expect(masked.message).not.toContain("secret");
  });

  it.each(["NOT_FOUND", "UNKNOWN_MEMBER", "VALIDATION_ERROR"] as const)("maskFault() masks %s of elsewhere", (code) => {
    const faults: Fault[] = [];
    const masked = maskFault(new SurfaceError(code, "secret"), "here", (fault) => void faults.push(fault));
    expect(masked).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
    expect(masked.message).toContain(faults[0]?.correlationId);
    expect(faults).toMatchObject([{ where: "here", cause: { code } }]);
  });

  it("internalError() answers when the reporter throws", () => {
    const report = (): never => {
      throw new Error("the log is full");
    };
    expect(internalError("x", "here", report)).toMatchObject({ code: "INTERNAL", correlationId: expect.any(String) });
  });

  it("reportToConsole() writes to the error stream, and a cause that cannot be printed does no harm", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    reportToConsole({ correlationId: "c", where: "here", cause: 5 });
    expect(written).toHaveBeenCalledWith("[surface-mcp] c in here:", 5);
    written.mockRestore();
    vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    const hostile = new Error("x");
    for (const name of ["stack", "message", "name"]) {
      Object.defineProperty(hostile, name, {
        get() {
          throw new Error("no");
        },
      });
    }
    expect(maskFault(hostile, "here", reportToConsole)).toMatchObject({ code: "INTERNAL" });
  });
});
