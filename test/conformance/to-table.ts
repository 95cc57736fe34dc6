import type { RunName } from "./expectations.ts";
import type { Verdict } from "./judge.ts";

/** What was judged of one run. */
export interface Judged {
  readonly name: RunName;
  readonly verdicts: readonly Verdict[];
}

const nameWidth = 50;
const cellWidth = 12;

function row(name: string, cells: readonly string[], remark = ""): string {
  return `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padEnd(cellWidth)).join("")}${remark}`.trimEnd();
}

/** A row a scenario, a column a run. Why something fails stands beside it. */
export function toTable(runs: readonly Judged[]): string {
  const scenarios = [...new Set(runs.flatMap(({ verdicts }) => verdicts.map(({ scenario }) => scenario)))];
  const rows = scenarios.map((scenario) => {
    const found = runs.map(({ verdicts }) => verdicts.find((verdict) => verdict.scenario === scenario));
    const known = found.flatMap((verdict) => (verdict?.outcome === "known" ? verdict.remarks : []));
    return row(
      scenario,
      found.map((verdict) => verdict?.outcome ?? "-"),
      [...new Set(known)].join("; "),
    );
  });
  return [
    row(
      "scenario",
      runs.map(({ name }) => name),
    ),
    ...rows,
  ].join("\n");
}
