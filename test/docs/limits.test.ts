import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { schemaLimits } from "../../src/catalog/mounts/live-catalog.ts";
import { defaultLimits } from "../../src/http/budgets.ts";
import { defaultLinkLimits } from "../../src/links/link-options.ts";

const page = readFileSync(new URL("../../docs/guide/limits.md", import.meta.url), "utf8");
const mebibyte = 1024 * 1024;

/** Cells of the row that names a limit, in the section of a heading. */
function rowOf(section: string, name: string): readonly string[] {
  const [text = ""] = page.slice(page.indexOf(`\n## ${section}\n`) + 1).split("\n## ");
  const row = text.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${name}\``));
  return (row ?? "").split("|").map((cell) => cell.trim());
}

function toText(limit: number): string {
  return limit >= mebibyte ? `${limit / mebibyte} MiB` : limit.toLocaleString("en-US");
}

describe("docs/guide/limits.md", () => {
  it.each(Object.entries(defaultLimits))("states the defaults of %s over HTTP", (name, { perCaller, total }) => {
    expect(rowOf("HTTP", name).slice(3, 5)).toEqual([toText(perCaller), toText(total)]);
  });

  it("states the limit of schemas of mounted operations", () => {
    const { perKey, total } = schemaLimits;
    expect(rowOf("HTTP", "schemaBytes").slice(3, 5)).toEqual([`${toText(perKey)} a source`, toText(total)]);
  });

  it.each(Object.entries(defaultLinkLimits))("states the defaults of %s of links", (name, { perPeer, total }) => {
    expect(rowOf("Links", name).slice(3, 5)).toEqual([toText(perPeer), toText(total)]);
  });
});
