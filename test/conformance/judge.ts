import type { Expectation } from "./expectations.ts";

/** What a suite says of one thing that it looked at. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string | undefined;
}

/** What became of one scenario. */
export interface Verdict {
  readonly scenario: string;
  /** `known`: it failed as was expected. `stale`: what was expected to fail did not. `none`: nothing could be checked. */
  readonly outcome: "pass" | "known" | "FAIL" | "STALE" | "none";
  /** Why that is known, or what is wrong. */
  readonly remarks: readonly string[];
}

/** A warning of theirs is a rule that this library means to follow, too. */
function isFailing({ status }: Check): boolean {
  return status === "FAILURE" || status === "WARNING";
}

function expects(expectation: Expectation, check: Check): boolean {
  return expectation.check === undefined || expectation.check === check.id;
}

function judgeScenario(scenario: string, checks: readonly Check[], expected: readonly Expectation[]): Verdict {
  const failing = checks.filter(isFailing);
  const surprises = failing.filter((check) => !expected.some((each) => expects(each, check)));
  if (surprises.length > 0) {
    return {
      scenario,
      outcome: "FAIL",
      remarks: surprises.map(({ id, errorMessage = "" }) => `${id}: ${errorMessage}`),
    };
  }
  const stale = expected.filter((each) => !failing.some((check) => expects(each, check)));
  if (stale.length > 0) {
    return {
      scenario,
      outcome: "STALE",
      remarks: stale.map(({ check = "all" }) => `${check}: expected to fail, and passes`),
    };
  }
  if (failing.length > 0)
    return { scenario, outcome: "known", remarks: [...new Set(expected.map(({ reason }) => reason))] };
  const outcome = checks.some(({ status }) => status === "SUCCESS") ? "pass" : "none";
  return { scenario, outcome, remarks: [] };
}

/** Compares what a suite found with what was expected of it, scenario by scenario. */
export function judge(
  found: ReadonlyMap<string, readonly Check[]>,
  expectations: readonly Expectation[],
): readonly Verdict[] {
  const judged = [...found].map(([scenario, checks]) =>
    judgeScenario(
      scenario,
      checks,
      expectations.filter((each) => each.scenario === scenario),
    ),
  );
  const missing = expectations.map(({ scenario }) => scenario).filter((scenario) => !found.has(scenario));
  return [
    ...judged,
    ...[...new Set(missing)].map((scenario): Verdict => ({
      scenario,
      outcome: "STALE",
      remarks: ["expected to fail, and was not run"],
    })),
  ];
}

/** Whether that is as it should be. */
export function isFine({ outcome }: Verdict): boolean {
  return outcome !== "FAIL" && outcome !== "STALE";
}
