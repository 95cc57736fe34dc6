import { toMarkdown } from "../report/to-markdown.ts";

/** What was found, and the most that it may be. */
export interface Finding {
  readonly what: string;
  readonly found: number;
  readonly limit: number;
}

/** Writes findings as a table of Markdown, whose columns also line up as plain text. */
export function toFindingTable(findings: readonly Finding[]): string {
  const body = findings.map(({ what, found, limit }) => [
    what,
    found.toLocaleString("en-US", { maximumFractionDigits: 2 }),
    limit.toLocaleString("en-US"),
    found <= limit ? "ok" : "missed",
  ]);
  return toMarkdown(["figure", "found", "at most", ""], body);
}
