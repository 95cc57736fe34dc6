import { readFileSync } from "node:fs";
import * as z from "zod";

/** What a run of a suite is known by: a version of the suite, or the revision whose requirements it checks. */
export const runNames = ["0.1.16", "2025-11-25", "2026-07-28"] as const;

/** One of {@link runNames}. */
export type RunName = (typeof runNames)[number];

/** Something that is known to fail. */
export interface Expectation {
  readonly scenario: string;
  /** Left out: some check of the scenario. */
  readonly check?: string;
  readonly reason: string;
}

const entries = z.array(z.string().regex(/^[^:]+(:[^:]+)?$/)).optional();
const file = z.array(
  z.strictObject({ reason: z.string().min(1), "0.1.16": entries, "2025-11-25": entries, "2026-07-28": entries }),
);

/** What is known to fail of a run, as `expected-failures.json` says. */
export function readExpectations(run: RunName): readonly Expectation[] {
  const text = readFileSync(new URL("expected-failures.json", import.meta.url), "utf8");
  return file.parse(JSON.parse(text)).flatMap(({ reason, [run]: names = [] }) =>
    names.map((name) => {
      const [scenario = "", check] = name.split(":");
      return { scenario, reason, ...(check === undefined ? {} : { check }) };
    }),
  );
}

/** The same as the suites read it: YAML, of which JSON is a part. */
export function toBaseline(expectations: readonly Expectation[]): string {
  const server = expectations.map(({ scenario, check }) => (check === undefined ? scenario : `${scenario}:${check}`));
  return JSON.stringify({ server }, null, 2);
}
