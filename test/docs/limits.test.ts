import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../src/http/budgets.ts";

const page = readFileSync(new URL("../../docs/guide/limits.md", import.meta.url), "utf8");
const mebibyte = 1024 * 1024;

/** Cells of the table row that names a limit. */
function rowOf(name: string): readonly string[] {
  const row = page.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
  return (row ?? "").split("|").map((cell) => cell.trim());
}

function toText(limit: number): string {
  return limit >= mebibyte ? `${limit / mebibyte} MiB` : limit.toLocaleString("en-US");
}

describe("docs/guide/limits.md", () => {
  it.each(Object.entries(defaultLimits))("states the defaults of %s", (name, { perCaller, total }) => {
    const cells = rowOf(name);
    expect([cells[3], cells[4]]).toEqual([toText(perCaller), toText(total)]);
  });
});
