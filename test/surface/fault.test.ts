import { afterEach, describe, expect, it, vi } from "vitest";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import { internalError, maskFault, reportToConsole, toSafeReporter, type Fault } from "../../src/surface/fault.ts";
import { noteRejections, settle } from "./support.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("maskFault()", () => {
  it("maskFault() returns a refusal and a masked error as they are, and reports neither", () => {
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

  it("reportToConsole() writes one line for an application that cannot be reached", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const cause = new SurfaceError("UNAVAILABLE", 'Connecting to "/s": nobody listens there (ENOENT)');
    reportToConsole({ correlationId: "c", where: "here", cause });
    expect(written.mock.calls.flat()).toEqual([`[surface-mcp] c in here: ${cause.message}`]);
  });

  it("reportToConsole() writes no raw control or bidirectional character, and no second entry", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const cause = new Error("\u001b[2J\u202eevil\n[surface-mcp] d in there: forged");
    reportToConsole({ correlationId: "c", where: "a\nb", cause });
    const [text = ""] = written.mock.calls.flat().map(String);
    expect(text).toContain(String.raw`Error: \u{1b}[2J\u{202e}evil`);
    expect(text.split("\n").filter((line) => !line.startsWith("    "))).toEqual(["[surface-mcp] c in a"]);
  });

  it("reportToConsole() writes to the error stream, and a cause that cannot be printed does no harm", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    reportToConsole({ correlationId: "c", where: "here", cause: 5 });
    expect(written).toHaveBeenCalledWith("[surface-mcp] c in here: 5");
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

  it.each([
    ["throws", () => explode()],
    ["is asynchronous and rejects", async () => explode()],
    [
      "gives a thenable that rejects",
      () => thenable({ value: (_done: unknown, fail: (no: string) => void) => fail("no") }),
    ],
    ["gives a thenable that throws", () => thenable({ value: () => explode() })],
    ["gives an object whose then throws", () => thenable({ get: () => explode() })],
  ])("internalError() and toSafeReporter() reject nothing when the reporter %s", async (_how, report) => {
    const rejections = noteRejections();
    expect(internalError("x", "here", report)).toMatchObject({ code: "INTERNAL" });
    expect(() => toSafeReporter(report)({ correlationId: "c", where: "here", cause: 1 })).not.toThrow();
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it("toSafeReporter() passes the fault on, and is idempotent", () => {
    const faults: Fault[] = [];
    const report = toSafeReporter((fault) => void faults.push(fault));
    expect(toSafeReporter(report)).toBe(report);
    report({ correlationId: "c", where: "here", cause: 1 });
    expect(faults).toEqual([{ correlationId: "c", where: "here", cause: 1 }]);
  });
});

function explode(): never {
  throw new Error("the log is full");
}

function thenable(descriptor: PropertyDescriptor): object {
  // oxlint-disable-next-line unicorn/no-thenable -- the test needs such an object
  return Object.defineProperty({}, "then", descriptor);
}
