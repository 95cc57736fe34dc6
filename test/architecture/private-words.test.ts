import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPrivateWords, privateWords } from "./rules/private-words.ts";
import { root } from "./source.ts";

/** Every file that is, or by the next commit could be, in the repository. */
function ownFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
  return listed
    .toString()
    .split("\n")
    .filter((path) => path !== "" && path !== "package-lock.json");
}

function readIfThere(path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    // Deleted in the working tree and not yet in the index.
    return "";
  }
}

describe("words that mean nothing elsewhere", () => {
  it("no file names a place on its author's machine when the repository is read", () => {
    const files = ownFiles();
    expect(files).toEqual(expect.arrayContaining(["package.json", "src/errors.ts", "test/architecture/source.ts"]));
    expect(files.flatMap((path) => findPrivateWords(path, readIfThere(path)))).toEqual([]);
  });

  it.each(privateWords)("findPrivateWords() objects when a line names %s", (word) => {
    expect(findPrivateWords("a.md", `fine\nsee ${word} for more`)).toEqual([`a.md:2 names "${word}"`]);
  });

  it("findPrivateWords() is content when a line only looks similar", () => {
    expect(findPrivateWords("a.md", "the work/load of shared references")).toEqual([]);
  });
});
