import { visibleText } from "../schema/visible-text.ts";

/** Rows as lines whose cells stand below each other. */
export function columns(rows: readonly (readonly string[])[]): string {
  const plain = rows.map((row) => row.map(visibleText));
  const widths = (plain.at(0) ?? []).map((_cell, index) => Math.max(...plain.map((row) => row[index]?.length ?? 0)));
  const lines = plain.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
