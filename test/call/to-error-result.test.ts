import { describe, expect, it } from "vitest";
import { toErrorResult, type ThrownAt } from "../../src/call/to-error-result.ts";
import { Refusal, SurfaceError, surfaceErrorCodes } from "../../src/errors.ts";
import { internalError, type Fault } from "../../src/surface/fault.ts";

function refuse(cause: unknown, more: Partial<ThrownAt> = {}) {
  const faults: Fault[] = [];
  const report = (fault: Fault): number => faults.push(fault);
  return { refused: toErrorResult(cause, { where: "probe", report, ...more }), faults };
}

describe("toErrorResult() and a Refusal", () => {
  it("passes on ordinary code, message and details", () => {
    const { refused, faults } = refuse(new Refusal("BUSY", "a run is in progress", { run: [7, null, "x"] }));
    expect(refused).toEqual({
      kind: "refused",
      code: "BUSY",
      message: "a run is in progress",
      issues: [],
      details: { run: [7, null, "x"] },
      correlationId: undefined,
    });
    expect(faults).toEqual([]);
  });

  it("toErrorResult() shows invisible and bidirectional characters of code and message, and keeps emoji", () => {
    const message = "a\u2066b\u200b \u{1f468}\u200d\u{1f469} \u26a0\ufe0f";
    const { refused } = refuse(new Refusal("NO\u202e", message));
    expect(refused.code).toBe(String.raw`NO\u{202e}`);
    expect(refused.message).toBe(`a\\u{2066}b\\u{200b}${message.slice(4)}`);
  });

  it("bounds code and message and removes their control characters", () => {
    const { refused } = refuse(new Refusal(`C\u001b[2J${"O".repeat(999)}`, `a\r\nb\u0007${"é".repeat(99_999)}`));
    expect(refused.code).toMatch(/^C \[2J/);
    expect(Buffer.byteLength(refused.code)).toBeLessThanOrEqual(64);
    expect(refused.message).toMatch(/^a b é/);
    expect(Buffer.byteLength(`${refused.code}: ${refused.message}`)).toBeLessThanOrEqual(2048);
  });

  it.each([
    ["a bigint", { n: 1n }],
    ["a cycle", Object.assign([] as unknown[], { 0: 0 }, [])],
    ["a function", { secret: () => 1 }],
    ["more than 16 KiB", "x".repeat(16_384)],
    ["a getter that throws", Object.defineProperty({}, "x", { enumerable: true, get: () => expect.fail("read") })],
  ])("drops and reports details that hold %s", (what, given) => {
    if (what === "a cycle" && Array.isArray(given)) given.push(given);
    const { refused, faults } = refuse(new Refusal("BUSY", "no", given));
    expect(refused).toMatchObject({ code: "BUSY", message: "no", details: undefined });
    expect(faults).toMatchObject([{ correlationId: refused.correlationId, where: "probe" }]);
  });

  it("copies details, so that none of the author's code runs when they are written", () => {
    let reads = 0;
    const details = {
      get n() {
        reads += 1;
        return reads;
      },
    };
    const { refused } = refuse(new Refusal("BUSY", "no", details));
    const before = reads;
    expect(JSON.stringify(refused.details)).toBe(JSON.stringify(refused.details));
    expect(reads).toBe(before);
  });

  it("toErrorResult() keeps an own __proto__ in details a key", () => {
    const { refused } = refuse(new Refusal("BUSY", "no", JSON.parse('{"__proto__":{"polluted":1}}')));
    expect(JSON.stringify(refused.details)).toBe('{"__proto__":{"polluted":1}}');
    expect(Object.getPrototypeOf(refused.details)).toBe(Object.prototype);
    expect({}).not.toHaveProperty("polluted");
  });

  it.each([
    ["a message that is a getter and throws", { get: () => expect.fail("secret") }],
    ["a message that is no string", { value: 5 }],
  ])("toErrorResult() masks a refusal with %s", (_what, message) => {
    const cause = Object.defineProperty(new Refusal("BUSY", "no"), "message", message);
    const { refused, faults } = refuse(cause);
    expect(refused.code).toBe("INTERNAL");
    expect(faults).toHaveLength(1);
  });
});

describe("toErrorResult() and an error of the package", () => {
  it.each(surfaceErrorCodes)("toErrorResult() never repeats the message of %s", (code) => {
    const issues = [{ path: "secret", message: "secret" }];
    for (const correlationId of ["secret", "", "00000000-0000-0000-0000-00000000000g"]) {
      const { refused } = refuse(new SurfaceError(code, "secret", { issues, correlationId, cause: "secret" }), {
        argumentsRoot: "",
      });
      expect(JSON.stringify(refused)).not.toContain("secret");
    }
    expect(JSON.stringify(refuse(new SurfaceError(code, "secret", { issues })).refused)).not.toContain("secret");
  });

  it.each([
    ["TIMEOUT", "the deadline passed"],
    ["ABORTED", "the call was cancelled"],
    ["CLOSED", "the application behind this is closing"],
  ] as const)("toErrorResult() says %s in plain words and logs nothing", (code, message) => {
    const { refused, faults } = refuse(new SurfaceError(code, "secret"));
    expect(refused).toMatchObject({ code, message, correlationId: undefined });
    expect(faults).toEqual([]);
  });

  it.each([
    ["UNAVAILABLE", /cannot be reached right now; this server is still running: try again shortly/],
    ["DISCONNECTED", /was lost .* this server is still running: try again shortly/],
  ] as const)("toErrorResult() says that %s may be tried again when nothing can have happened", (code, message) => {
    const { refused, faults } = refuse(new SurfaceError(code, "secret"));
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message), retryable: true });
    expect(faults).toEqual([]);
  });

  const unknown = expect.stringMatching(/whether the call took effect is unknown: read the state before you try again/);

  it.each([
    ["OUTCOME_UNKNOWN", undefined],
    ["OUTCOME_UNKNOWN", "call"],
    ["OUTCOME_UNKNOWN", "steps"],
    ["TIMEOUT", "call"],
    ["TIMEOUT", "steps"],
    ["DISCONNECTED", "call"],
    ["DISCONNECTED", "steps"],
    // A handler of several steps may have taken the first.
    ["UNAVAILABLE", "steps"],
    ["OVERFLOW", "steps"],
    ["DROPPED", "steps"],
    ["CLOSED", "call"],
    ["CLOSED", "steps"],
  ] as const)("answers %s with an unknown outcome for %s", (code, changes) => {
    const { refused, faults } = refuse(new SurfaceError(code, "secret"), changes === undefined ? {} : { changes });
    expect(refused).toMatchObject({ code, message: unknown });
    expect(refused).not.toHaveProperty("retryable");
    expect(faults).toEqual([]);
  });

  it.each([undefined, "call"] as const)("answers DROPPED as it is for %s", (changes) => {
    const { refused, faults } = refuse(new SurfaceError("DROPPED", "secret"), changes === undefined ? {} : { changes });
    expect(refused).toMatchObject({ code: "DROPPED", message: expect.stringMatching(/was dropped .* still work$/) });
    expect(refused).not.toHaveProperty("retryable");
    expect(faults).toEqual([]);
  });

  it("toErrorResult() says of a call that waited for a connection until its deadline that nothing was sent", () => {
    const at = { changes: "call", isUnsent: true, deadline: 5 } as const;
    const { refused } = refuse(new SurfaceError("TIMEOUT", "secret"), at);
    expect(refused).toMatchObject({ retryable: true, message: expect.stringMatching(/nothing was sent/) });
    expect(refused.details).toEqual({ deadline: 5 });
  });

  it("toErrorResult() says of a call that was not sent that it may be tried again", () => {
    const { refused } = refuse(new SurfaceError("UNAVAILABLE", "secret"), { changes: "call" });
    expect(refused).toMatchObject({ retryable: true, message: expect.stringMatching(/nothing was sent/) });
  });

  it.each([undefined, "call"] as const)("answers a full queue as retryable for %s", (changes) => {
    const { refused, faults } = refuse(
      new SurfaceError("OVERFLOW", "secret"),
      changes === undefined ? {} : { changes },
    );
    expect(refused).toMatchObject({
      code: "OVERFLOW",
      retryable: true,
      message: expect.stringMatching(/^too many operations are running/),
    });
    expect(faults).toEqual([]);
  });

  it.each(["CONTRACT_MISMATCH", "PROTOCOL_MISMATCH", "FRAME_TOO_LARGE"] as const)(
    "answers %s in plain words and reports the omitted details",
    (code) => {
      const { refused, faults } = refuse(new SurfaceError(code, "secret"));
      expect(refused).toMatchObject({ code, correlationId: faults[0]?.correlationId });
      expect(refused).not.toHaveProperty("retryable");
      expect(faults).toMatchObject([{ cause: { code, message: "secret" } }]);
    },
  );

  it.each(["UNKNOWN_MEMBER", "NOT_FOUND", "SCHEMA_UNSUPPORTED"] as const)(
    "answers INTERNAL for %s, which would reveal the backend",
    (code) => {
      const { refused, faults } = refuse(new SurfaceError(code, "secret"));
      expect(refused).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
    },
  );

  it("toErrorResult() keeps an id that was given where the fault was logged, and does not log it again", () => {
    const { correlationId = "" } = internalError("cause", "there", () => {});
    for (const code of ["INTERNAL", "INVALID_OUTPUT", "UNSERIALISABLE"] as const) {
      const { refused, faults } = refuse(new SurfaceError(code, "secret", { correlationId }));
      expect(refused).toMatchObject({ code, correlationId, message: expect.stringContaining(correlationId) });
      expect(faults).toEqual([]);
    }
  });

  it("toErrorResult() shows issues only of an error about the caller's arguments", () => {
    const error = new SurfaceError("VALIDATION_ERROR", "no", { issues: [{ path: "a.b", message: "too long" }] });
    expect(refuse(error, { argumentsRoot: "value" }).refused.issues).toEqual([
      { path: "value.a.b", message: "too long" },
    ]);
    expect(refuse(error).refused).toMatchObject({ code: "INTERNAL", issues: [] });
  });

  it("masks an unknown code", () => {
    const error = Object.defineProperty(new SurfaceError("INTERNAL", "no"), "code", { value: "toString" });
    expect(refuse(error).refused.code).toBe("INTERNAL");
  });
});

describe("toErrorResult() and anything else", () => {
  it("survives a proxy whose traps throw", () => {
    const trap = (): never => expect.fail("secret");
    const cause: unknown = new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap, ownKeys: trap });
    const { refused, faults } = refuse(cause);
    expect(refused).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
    expect(JSON.stringify(refused)).not.toContain("secret");
  });

  it.each([undefined, null, 0, "secret", Symbol("secret"), () => "secret"])(
    "toErrorResult() masks %s when that was thrown",
    (cause) => {
      const { refused, faults } = refuse(cause);
      expect(refused.code).toBe("INTERNAL");
      expect(JSON.stringify(refused)).not.toContain("secret");
      expect(faults).toHaveLength(1);
    },
  );
});
