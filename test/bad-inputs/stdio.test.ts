import { beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { groups, openingCases, type CaseGroup } from "../fixtures/bad-inputs-more.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { readCorpus } from "./bad-input.ts";
import { judge } from "./judge.ts";
import { watch } from "./run-case.ts";
import { prepare } from "./send-input.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs");
});

/** Sends all cases of a group to one process; what is wrong, by case. */
async function problemsOf(group: CaseGroup): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {};
  const server = new ServerProcess(script);
  try {
    await prepare(server, group.precondition);
    for (const badInput of group.cases) {
      const wrong = judge(badInput, await watch(server, badInput));
      if (wrong.length > 0) found[badInput.id] = wrong;
    }
  } finally {
    await server.kill();
  }
  return found;
}

describe("more bad inputs over stdio", () => {
  it("has a name of its own for each", () => {
    const all = [...readCorpus(), ...groups.flatMap((group) => group.cases), ...openingCases];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(350);
  });

  it.concurrent.each(groups)("$name: one connection takes them all", { timeout: 120_000 }, async (group) => {
    expect(await problemsOf(group)).toEqual({});
  });
});
