import { beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { openingCases } from "../fixtures/bad-inputs-more.ts";
import { readCorpus, type BadInput } from "./bad-input.ts";
import { judge } from "./judge.ts";
import { runCase } from "./run-case.ts";

const cases = readCorpus();

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs");
});

async function problems(badInput: BadInput): Promise<readonly string[]> {
  return judge(badInput, await runCase(script, badInput));
}

describe("the corpus of bad inputs over stdio", () => {
  it("is run whole", () => {
    expect(cases).toHaveLength(106);
  });

  it.concurrent.each(cases)("$id", { timeout: 60_000 }, async (badInput) => {
    expect(await problems(badInput)).toEqual([]);
  });
});

describe("more bad inputs over stdio", () => {
  it.concurrent.each(openingCases)("opening: $id", { timeout: 60_000 }, async (badInput) => {
    expect(await problems(badInput)).toEqual([]);
  });
});
