import { limitOf, type Row, type Verdict } from "./summarise.ts";
import { toMarkdown } from "./to-markdown.ts";

/** The heads of the two columns that are compared. */
export type Compared = readonly [ours: string, base: string];

function toText(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

function budgetText({ budget }: Row): string {
  if (budget === undefined) return "";
  return `${budget.hope === true ? "goal: " : ""}${budget.sense} ${budget.bound}`;
}

function cellsOf(row: Row): readonly string[] {
  const { figure, ours, base, ratio, least, greatest, verdict } = row;
  const spread = `${least.toFixed(2)} to ${greatest.toFixed(2)}`;
  return [figure, toText(ours), toText(base), ratio.toFixed(2), spread, budgetText(row), verdict];
}

/** Writes rows as a table of Markdown. */
export function toTable(rows: readonly Row[], compared: Compared = ["ours", "hand-written"]): string {
  return toMarkdown(["figure", ...compared, "ratio", "least to greatest", "budget", ""], rows.map(cellsOf));
}

const words: Readonly<Record<Verdict, string>> = {
  ok: "ok",
  close: "close: fails only beyond the slack",
  over: "NO",
  missed: "no, and does not fail",
  "": "",
};

function goalCells({ figure, measured, budget, verdict }: Row): readonly string[] {
  if (budget === undefined) return [figure, "", "", ""];
  const { sense, bound, of, slack } = budget;
  const limit = Number(limitOf(budget).toFixed(3));
  const fails = slack === undefined ? "" : `, fails ${sense === "at most" ? "above" : "below"} ${limit}`;
  return [figure, `${measured.toFixed(2)}${of === "value" ? "" : "x"}`, `${sense} ${bound}${fails}`, words[verdict]];
}

/** Writes the rows that have a budget, each with its goal, as a table of Markdown. */
export function toGoalTable(rows: readonly Row[]): string {
  const bounded = rows.filter(({ budget }) => budget !== undefined);
  return toMarkdown(["figure", "measured", "goal", "ok"], bounded.map(goalCells));
}
