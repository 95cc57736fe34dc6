import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { markdownFiles, root } from "./markdown-snippets.ts";

const fenced = /^```[\s\S]*?^```$/gm;

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8").replaceAll(fenced, "");
}

/** What GitHub makes of a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsIn(file: string): readonly string[] {
  return [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => toAnchor(heading));
}

/** The start of a link to a file of this repository that the archive of npm does not hold. */
const repository = "https://github.com/surface-mcp/surface-mcp/blob/main/";

/** The links of a file that lead nowhere. */
function brokenLinks(file: string): readonly string[] {
  const targets = [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const own = targets.filter((target) => target.startsWith(repository) || !/^https?:/.test(target));
  return own.filter((target) => {
    const [path = "", anchor] = target.split("#", 2);
    const near = path === "" ? file : join(dirname(file), path);
    const led = path.startsWith(repository) ? path.slice(repository.length) : near;
    if (!existsSync(join(root, led))) return true;
    return anchor !== undefined && !anchorsIn(led).includes(anchor);
  });
}

/** The names of all files that contributors work on. */
function fileNames(): ReadonlySet<string> {
  const folders = ["src", "test", "examples", "docs"];
  const paths = folders.flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }));
  return new Set([...paths, ...readdirSync(root)].map((path) => basename(path)));
}

describe("documentation", () => {
  test("leads somewhere by every link, and by every anchor of one", () => {
    const broken = markdownFiles().flatMap((file) => brokenLinks(file).map((target) => `${file}: ${target}`));
    expect(broken).toEqual([]);
  });

  test("shows the recipe for tsd as the type tests compile it", () => {
    const shown = /^```ts tsd\n([\s\S]*?)^```$/m.exec(
      readFileSync(join(root, "docs/guide/exposure-in-ci.md"), "utf8"),
    )?.[1];
    expect(shown).toBe(readFileSync(join(root, "test-d/notes-exposure.test-d.ts"), "utf8"));
  });

  test("names no file to contributors that is not there", () => {
    const names = fileNames();
    const named = [...textOf("AGENTS.md").matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !names.has(basename(path)))).toEqual([]);
  });
});
