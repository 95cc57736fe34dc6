import type { Sample } from "../measure/sample.ts";
import { type Budget, budgets } from "./budgets.ts";
import { median } from "./statistics.ts";

/** One figure over all rounds. */
export interface Row {
  readonly figure: string;
  /** Medians. */
  readonly ours: number;
  readonly base: number;
  /** The median of the ratios of each round, and the least and the greatest of them. */
  readonly ratio: number;
  readonly least: number;
  readonly greatest: number;
  readonly budget: Budget | undefined;
  readonly verdict: "ok" | "over" | "missed" | "";
}

function judge(ratio: number, budget: Budget | undefined): Row["verdict"] {
  if (budget === undefined) return "";
  // As it is printed: a reader must not see "1.10, at most 1.1" called over.
  const shown = Math.round(ratio * 100) / 100;
  const holds = budget.sense === "at most" ? shown <= budget.ratio : shown >= budget.ratio;
  if (holds) return "ok";
  return budget.goal === true ? "missed" : "over";
}

/** Sums the rounds up, a row a figure, in the order in which the figures were taken. */
export function summarise(samples: readonly Sample[]): readonly Row[] {
  const figures = [...new Set(samples.flatMap((sample) => [...sample.keys()]))];
  return figures.map((figure) => {
    const pairs = samples.flatMap((sample) => sample.get(figure) ?? []);
    const ratios = pairs.map(({ ours, base }) => ours / base);
    const budget = budgets.find((one) => figure.startsWith(one.figure));
    const ratio = median(ratios);
    const [least, greatest] = [Math.min(...ratios), Math.max(...ratios)];
    const worst = budget?.sense === "at most" ? greatest : least;
    return {
      figure,
      ours: median(pairs.map(({ ours }) => ours)),
      base: median(pairs.map(({ base }) => base)),
      ratio,
      least,
      greatest,
      budget,
      verdict: judge(budget?.everyRound === true ? worst : ratio, budget),
    };
  });
}
