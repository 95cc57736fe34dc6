import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../docs/markdown-snippets.ts";
import { ofProcesses, removeFolder } from "./ci-support.ts";
import { compileExample } from "./compile-examples.ts";

const main = compileExample("ci/main.ts");

let temporary = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "ci-views-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await removeFolder(temporary);
});

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const ended = Promise.all([text(child.stderr), once(child, "exit")]).then(([stderr, [code]]) => ({ code, stderr }));
  return { child, ended };
}

const leftovers = async (): Promise<readonly string[]> =>
  (await readdir(temporary)).filter((name) => name.startsWith("ci-"));

/** What is said, without the time in front of it. */
const saidIn = (stdout: string): readonly string[] =>
  stdout.split("\n").map((line) => line.replace(/^ *\d+\.\d s {2}/, "").replace(/^ {10}/, ""));

/** The output that the guide shows. */
function shownInGuide(): readonly string[] {
  const guide = readFileSync(join(root, "docs/guide/replays.md"), "utf8");
  return (/says \(shortened\):\n\n```text\n([^`]*)```/.exec(guide)?.[1] ?? "").trimEnd().split("\n");
}

describe("npm run demo:views", ofProcesses, () => {
  it("shows three agents by three views, in both eras and with both SDKs, what the guide says, and leaves nothing", async () => {
    const { child, ended } = start("--http", "--views");
    const said = saidIn(await text(child.stdout));
    expect(await ended).toEqual({ code: 0, stderr: "" });
    const shown = shownInGuide();
    expect(shown.length).toBeGreaterThan(20);
    // In that order, with more in between.
    let from = 0;
    for (const line of shown) {
      const at = said.indexOf(line, from);
      expect(said.slice(at === -1 ? from : at)).toContain(line);
      from = at + 1;
    }
    expect(await leftovers()).toEqual([]);
  });

  it("ends in order on SIGTERM while it goes on", async () => {
    const { child, ended } = start("--http", "--views");
    for await (const line of createInterface({ input: child.stdout })) if (line.includes("executor comes by")) break;
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143 });
    expect(await leftovers()).toEqual([]);
  });

  it.each([
    ["without --http", ["--views"], /^Option '--views' needs '--http'/],
    ["with --hold", ["--http", "--views", "--hold"], /^Option '--hold' does not go with '--views'/],
  ])("is refused with code 2 %s", async (_what, args, words) => {
    const { ended } = start(...args);
    expect(await ended).toEqual({ code: 2, stderr: expect.stringMatching(words) });
  });
});
