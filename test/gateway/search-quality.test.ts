import { describe, expect, it } from "vitest";
import { heldOutPhrases, tuningPhrases, type Phrase } from "../fixtures/search/phrases.ts";
import { operations } from "../fixtures/search/operations.ts";
import { toToolHints } from "../../src/catalog/tool-hints.ts";
import { GatewayBench, operation } from "./support.ts";

const bench = GatewayBench.over(
  operations.map(({ id, description, type }) =>
    operation(`hub.${id}`, { description, hints: toToolHints(type === "query" ? "read" : "unstated", {}) }),
  ),
);

/** The phrases whose operation is not among the first three, with what is. */
async function missed(phrases: readonly Phrase[]): Promise<readonly string[]> {
  const misses: string[] = [];
  for (const [q, ...right] of phrases) {
    const found = await bench.find({ q, limit: 3 });
    if (!right.some((id) => found.includes(`hub.${id}`))) misses.push(`${q} -> ${found.join(" ") || "nothing"}`);
  }
  return misses;
}

describe("search, asked as people ask", () => {
  it.each([
    ["the phrases that it was tuned on", tuningPhrases, 28],
    ["phrases that it was not tuned on", heldOutPhrases, 34],
  ])("has the right operation of 500 among the first three for %s", async (_which, phrases, most) => {
    const misses = await missed(phrases);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(500);
    expect(phrases).toHaveLength(42);
    expect(misses.slice(most)).toEqual([]);
  });
});
