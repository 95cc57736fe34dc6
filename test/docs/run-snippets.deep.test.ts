import { execFile } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { markdownFiles, root, snippetsOf, type Snippet } from "./markdown-snippets.ts";

const run = promisify(execFile);

// Two levels below the root, where the package finds itself by its name.
const folder = join(root, ".scratch", `snippets-${process.pid}`);

const snippets = markdownFiles().flatMap(snippetsOf);

/** A server over HTTP has no input whose end would end it: its process does, behind the last line of the snippet. */
function toProgram(code: string): string {
  return code.includes('"surface-mcp/http"') ? `${code}\nprocess.exit(0);\n` : code;
}

/** The link of a live page, whose token differs each time. */
const linkLine = /^counter: live page at http:\S+ \(opens once\)\n/gm;

/** Runs a snippet in a process of its own. Its input is at its end, so that one that serves over stdio ends as well. */
async function runSnippet({ name, code }: Snippet): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    // As in snippets.test.ts: relative imports in the docs are written for a folder one level below the root.
    stdin: { contents: toProgram(code), resolveDir: join(root, "docs"), sourcefile: `${name}.ts`, loader: "ts" },
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const running = run(process.execPath, [outfile], { cwd: folder, encoding: "utf8", timeout: 80_000 });
  running.child.stdin?.end();
  return running;
}

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  // Some snippets read a file of an example. They run in a folder of their own, since others write files.
  symlinkSync(join(root, "examples"), join(folder, "examples"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("documentation", () => {
  test("says what some of its snippets print when they are run", () => {
    expect(snippets.filter(({ prints }) => prints !== undefined).length).toBeGreaterThanOrEqual(3);
  });

  test.concurrent.each(snippets)("does what it says when $name is run", { timeout: 90_000 }, async (snippet) => {
    const { stdout, stderr } = await runSnippet(snippet);
    expect(stderr.replaceAll(linkLine, "")).toBe("");
    expect(stdout).toBe(snippet.prints ?? stdout);
  });
});
