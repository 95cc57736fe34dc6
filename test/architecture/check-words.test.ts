import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "./source.ts";

const script = join(root, "scripts", "check-words.mjs");

/** A repository that breaks no rule of the check. */
const clean: Readonly<Record<string, string>> = {
  "src/good.ts": [
    "/** Creates a session. */\nexport function createSession(): void {}",
    "/** Session options. */\nexport interface SessionOptions {\n  /** Whether it is open. */\n  open: boolean;\n}",
    "// `nobody` in backticks is code.\n",
  ].join("\n"),
  "README.md": "# A package\n\nShort.\n",
  "AGENTS.md": "# Contributing\n",
  "docs/guide.md": "A sentence.\n\n```ts\nconst whoever = 1;\n```\n",
  "scripts/word-counts.json": JSON.stringify({
    ...{ docCommentOpenings: 0, forbiddenWords: 0, longSentences: 0, homonyms: 0, bannedSuffixes: 0 },
    ...{ readmeLines: 160, readmeWords: 950, agentsLines: 120 },
  }),
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "surface-mcp-words-"));
  write(clean);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function check(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const run = spawnSync(process.execPath, [script, "--root", folder, ...args], { encoding: "utf8" });
  return { status: run.status, said: run.stdout + run.stderr };
}

function recorded(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(join(folder, "scripts", "word-counts.json"), "utf8"));
}

describe("npm run check:words", () => {
  it("passes without a word when no rule is broken", () => {
    expect(check()).toEqual({ status: 0, said: "" });
  });

  it("names each rule that is broken more often than recorded", () => {
    write({
      "src/openings.ts":
        "/** What is asked. */\nexport const a = 1;\n/** Whether it ran. */\nexport function ran(): void {}\n",
      "src/words.ts": "// Read by nobody, and comes\n// to nothing.\nexport const b = 1;\n",
      "src/suffix.ts": "interface CallSetting { a: 1 }\nexport type SessionOptions = CallSetting;\n",
      "docs/long.md": `# Long\n\n- ${"word ".repeat(31)}.\n`,
      "README.md": "word\n".repeat(161),
      "AGENTS.md": "a\n".repeat(121),
    });
    const { status, said } = check();
    expect(status).toBe(1);
    expect(said.split("\n").filter((line) => line.includes(" allowed"))).toEqual([
      "docCommentOpenings: 2 found, 0 allowed.",
      "forbiddenWords: 2 found, 0 allowed.",
      "longSentences: 3 found, 0 allowed.",
      "homonyms: 1 found, 0 allowed.",
      "bannedSuffixes: 1 found, 0 allowed.",
      "readmeLines: 161 found, 160 allowed.",
      "agentsLines: 121 found, 120 allowed.",
    ]);
    expect(check("--list", "forbiddenWords").said).toBe("src/words.ts:1  nobody\nsrc/words.ts:1  comes to\n");
    expect(check("--list", "homonyms").said).toContain("SessionOptions, exported by src/good.ts too");
  });

  it("asks for a lower number when fewer are found, and writes it with --update", () => {
    const counts = { ...recorded(), forbiddenWords: 5 };
    write({ "src/words.ts": "// nobody\n", "scripts/word-counts.json": JSON.stringify(counts) });
    expect(check()).toMatchObject({ status: 0, said: expect.stringContaining("forbiddenWords: 1 found, 5 allowed.") });
    expect(recorded()).toEqual(counts);
    expect(check("--update").status).toBe(0);
    expect(recorded()).toEqual({ ...counts, forbiddenWords: 1 });
  });

  it("raises no number with --update", () => {
    write({ "src/words.ts": "// nobody\n" });
    expect(check("--update").status).toBe(1);
    expect(recorded()["forbiddenWords"]).toBe(0);
  });
});
