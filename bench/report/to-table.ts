import type { Row } from "./summarise.ts";

/** What stands above the two columns that are compared. */
export type Compared = readonly [ours: string, base: string];

function toText(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

function budgetText({ budget }: Row): string {
  if (budget === undefined) return "";
  return `${budget.goal === true ? "goal: " : ""}${budget.sense} ${budget.ratio}`;
}

function cellsOf(row: Row): readonly string[] {
  const { figure, ours, base, ratio, least, greatest, verdict } = row;
  const spread = `${least.toFixed(2)} to ${greatest.toFixed(2)}`;
  return [figure, toText(ours), toText(base), ratio.toFixed(2), spread, budgetText(row), verdict];
}

/** Writes rows as a table of Markdown, whose columns also line up as plain text. */
export function toTable(rows: readonly Row[], compared: Compared = ["ours", "hand-written"]): string {
  const heads = ["figure", ...compared, "ratio", "least to greatest", "budget", ""];
  const body = rows.map(cellsOf);
  const widths = heads.map((head, column) =>
    Math.max(head.length, 3, ...body.map((cells) => cells[column]?.length ?? 0)),
  );
  const toLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [toLine(heads), toLine(widths.map((width) => "-".repeat(width))), ...body.map(toLine)].join("\n");
}
