import { beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { readCorpus, type BadInput } from "./bad-input.ts";
import { judge } from "./judge.ts";
import { runCase } from "./run-case.ts";

/** Cases of the corpus that ask for what is not built yet: subscriptions. */
const notYet: ReadonlySet<string> = new Set([
  "listen-filter-array",
  "listen-uris-string",
  "listen-unexposed-uri",
  "listen-empty-filter",
  "listen-dup-id",
  "legacy-sub-unexposed",
  "legacy-sub-unknown",
  "legacy-sub-twice",
  "legacy-unsub-twice",
]);

const corpus = readCorpus();
const cases = corpus.filter(({ id }) => !notYet.has(id));

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs");
});

async function problems(badInput: BadInput): Promise<readonly string[]> {
  return judge(badInput, await runCase(script, badInput));
}

describe("the corpus of bad inputs over stdio", () => {
  it("is run whole, but for subscriptions", () => {
    expect(corpus).toHaveLength(106);
    expect(cases).toHaveLength(97);
    expect([...notYet].every((id) => corpus.some((each) => each.id === id))).toBe(true);
  });

  it.concurrent.each(cases)("$id", { timeout: 60_000 }, async (badInput) => {
    expect(await problems(badInput)).toEqual([]);
  });
});
