/** What was found, and the most that it may be. */
export interface Finding {
  readonly what: string;
  readonly found: number;
  readonly limit: number;
}

/** Writes findings as a table of Markdown, whose columns also line up as plain text. */
export function toFindingTable(findings: readonly Finding[]): string {
  const rows = [
    ["figure", "found", "at most", ""],
    ...findings.map(({ what, found, limit }) => [
      what,
      found.toLocaleString("en-US", { maximumFractionDigits: 2 }),
      limit.toLocaleString("en-US"),
      found <= limit ? "ok" : "missed",
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(6, ...rows.map((cells) => cells[column]?.length ?? 0)));
  const toLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = rows.map(toLine);
  return [head, toLine(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}
