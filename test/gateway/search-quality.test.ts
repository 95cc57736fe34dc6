import { describe, expect, it } from "vitest";
import { countTokens } from "../../bench/tools/count-tokens.mjs";
import { heldOutPhrases, tuningPhrases, type Phrase } from "../fixtures/search/phrases.ts";
import { operations } from "../fixtures/search/operations.ts";
import { toToolHints } from "../../src/catalog/tool-head.ts";
import { GatewayBench, operation } from "./support.ts";

// What an operation takes and answers, of a usual size.
const json = {
  type: "object",
  properties: {
    id: { type: "string", description: "Which one, as list and search tell it" },
    owner: { type: "string", description: "Whose; default: the caller's own" },
    fields: { type: "array", items: { type: "string" }, maxItems: 32, description: "Only these fields of the answer" },
  },
  required: ["id"],
  additionalProperties: false,
};

const bench = GatewayBench.over(
  operations.map(({ id, description, type }) =>
    operation(`hub.${id}`, {
      description,
      input: { root: "", json, decode: (args) => args },
      hints: toToolHints(type === "query" ? "read" : "unstated", {}),
    }),
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

it("list has a default page of less than 1,500 tokens, where there are 500 operations", async () => {
  const page = await bench.ask("list");
  expect(page).toMatchObject({ total: 500, next: expect.any(String) });
  expect(countTokens(JSON.stringify(page))).toBeLessThan(1500);
});

describe("search, asked as people ask", () => {
  it.each([
    ["the phrases that it was tuned on", tuningPhrases, 1],
    ["phrases that it was not tuned on", heldOutPhrases, 4],
  ])("has the right operation of 500 among the first three for %s", async (_which, phrases, most) => {
    const misses = await missed(phrases);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(500);
    expect(phrases).toHaveLength(42);
    expect(misses.slice(most)).toEqual([]);
  });
});
