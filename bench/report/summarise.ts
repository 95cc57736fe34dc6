import type { Sample } from "../measure/sample.ts";
import { type Budget, budgets } from "./budgets.ts";
import { median } from "./statistics.ts";

/**
 * The judgement of a figure: `close` misses its bound by less than the slack, `over` by more, `missed` is a hope that was not
 * reached. Only `over` fails a run. Empty without a budget.
 */
export type Verdict = "ok" | "close" | "over" | "missed" | "";

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
  /** The number that the budget bounds. `NaN` without a budget. */
  readonly measured: number;
  readonly verdict: Verdict;
}

/** Returns the number beyond which a run fails. */
export function limitOf({ sense, bound, slack = 0 }: Budget): number {
  return sense === "at most" ? bound * (1 + slack) : bound * (1 - slack);
}

function judge(measured: number, budget: Budget): Verdict {
  const holds = (limit: number): boolean => {
    // As it is printed: a reader must not see "1.10, at most 1.1" called over.
    const shown = Math.round(measured * 100) / 100;
    return budget.sense === "at most" ? shown <= limit + Number.EPSILON : shown >= limit - Number.EPSILON;
  };
  if (holds(budget.bound)) return "ok";
  if (budget.hope === true) return "missed";
  return holds(limitOf(budget)) ? "close" : "over";
}

/** Returns what of the rounds a budget bounds. */
function measuredOf(budget: Budget, values: readonly number[]): number {
  if (budget.everyRound !== true) return median(values);
  return budget.sense === "at most" ? Math.max(...values) : Math.min(...values);
}

/** Sums the rounds up, a row a figure, in the order in which the figures were taken. */
export function summarise(samples: readonly Sample[]): readonly Row[] {
  const figures = [...new Set(samples.flatMap((sample) => [...sample.keys()]))];
  return figures.map((figure) => {
    const pairs = samples.flatMap((sample) => sample.get(figure) ?? []);
    const own = pairs.map(({ ours }) => ours);
    const ratios = pairs.map(({ ours, base }) => ours / base);
    const budget = budgets.find((one) => figure.startsWith(one.figure));
    const measured = budget === undefined ? Number.NaN : measuredOf(budget, budget.of === "value" ? own : ratios);
    return {
      figure,
      ours: median(own),
      base: median(pairs.map(({ base }) => base)),
      ratio: median(ratios),
      least: Math.min(...ratios),
      greatest: Math.max(...ratios),
      budget,
      measured,
      verdict: budget === undefined ? "" : judge(measured, budget),
    };
  });
}
