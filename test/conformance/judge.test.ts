import { describe, expect, it } from "vitest";
import { readExpectations, runNames, toBaseline } from "./expectations.ts";
import { type Check, isFine, judge } from "./judge.ts";

const good: Check = { id: "good", status: "SUCCESS" };
const bad: Check = { id: "bad", status: "FAILURE", errorMessage: "It is bad" };
const worse: Check = { id: "worse", status: "WARNING" };
const skipped: Check = { id: "skipped", status: "SKIPPED" };

function outcomeOf(checks: readonly Check[], expected: readonly (string | undefined)[] = []): string | undefined {
  const expectations = expected.map((check) => ({
    scenario: "one",
    reason: "Known",
    ...(check === undefined ? {} : { check }),
  }));
  return judge(new Map([["one", checks]]), expectations)[0]?.outcome;
}

describe("judge()", () => {
  it("passes what has no failing check", () => {
    expect(outcomeOf([good, skipped])).toBe("pass");
  });

  it("says that nothing was checked when all of it was skipped", () => {
    expect(outcomeOf([skipped])).toBe("none");
  });

  it("fails a scenario when a check fails or warns that nobody expects to", () => {
    expect(outcomeOf([good, bad])).toBe("FAIL");
    expect(outcomeOf([good, worse])).toBe("FAIL");
    expect(outcomeOf([bad, worse], ["bad"])).toBe("FAIL");
  });

  it("takes it as known when every failing check is expected, or the whole scenario is", () => {
    expect(outcomeOf([good, bad], ["bad"])).toBe("known");
    expect(outcomeOf([bad, worse], ["bad", "worse"])).toBe("known");
    expect(outcomeOf([bad, worse], [undefined])).toBe("known");
  });

  it("calls an expectation stale when what it names passes, is skipped or was not run", () => {
    expect(outcomeOf([good], [undefined])).toBe("STALE");
    expect(outcomeOf([bad, good], ["bad", "good"])).toBe("STALE");
    expect(outcomeOf([good, skipped], ["skipped"])).toBe("STALE");
    const absent = judge(new Map(), [{ scenario: "two", reason: "Known" }]);
    expect(absent).toMatchObject([{ scenario: "two", outcome: "STALE" }]);
  });

  it("is not fine when something fails unexpectedly or is stale", () => {
    const verdict = { scenario: "one", remarks: [] };
    expect(isFine({ ...verdict, outcome: "known" })).toBe(true);
    expect(isFine({ ...verdict, outcome: "FAIL" })).toBe(false);
    expect(isFine({ ...verdict, outcome: "STALE" })).toBe(false);
  });
});

describe("expected-failures.json", () => {
  it.each(runNames)("names nothing twice and gives a reason for each of %s", (run) => {
    const expectations = readExpectations(run);
    const names = expectations.map(({ scenario, check }) => `${scenario}:${check ?? ""}`);
    expect(new Set(names).size).toBe(names.length);
    expect(expectations.every(({ reason }) => reason.length > 0)).toBe(true);
  });

  it("becomes what the suites read", () => {
    const baseline: unknown = JSON.parse(
      toBaseline([
        { scenario: "one", reason: "Known" },
        { scenario: "two", check: "some", reason: "Known" },
      ]),
    );
    expect(baseline).toEqual({ server: ["one", "two:some"] });
  });
});
