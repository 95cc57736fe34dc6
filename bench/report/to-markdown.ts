/** Writes a table of Markdown whose columns also line up as plain text. */
export function toMarkdown(heads: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, 3, ...body.map((cells) => cells[column]?.length ?? 0)),
  );
  const toLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [toLine(heads), toLine(widths.map((width) => "-".repeat(width))), ...body.map(toLine)].join("\n");
}
