import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { entrySources } from "../architecture/package-entries.ts";
import { root } from "../architecture/source.ts";
import { reachedFrom } from "./built-package.ts";

/** What a browser loads of the live page. No module imports it. */
const page: readonly string[] = ["dist/page/index.html", "dist/page/page.css", "dist/page/page.js"];
let packed: readonly string[] = [];
let packedBytes = Number.POSITIVE_INFINITY;

/** The files and folders to which a document links by a relative path. */
function linksOf(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const paths = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path = ""]) => path);
  return paths.map((path) => posix.join(posix.dirname(document), path).replace(/\/$/, ""));
}

describe("the packed package", () => {
  beforeAll(() => {
    // Without --ignore-scripts npm would build once more, under the feet of the tests that read dist.
    const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [first]: { files: { path: string }[]; size: number }[] = JSON.parse(output);
    packed = (first?.files ?? []).map((file) => file.path);
    packedBytes = first?.size ?? packedBytes;
  }, 60_000);

  it("holds dist, documents, examples, a schema, the templates, the licence, the readme and package.json when it is packed", () => {
    const documented = /^(?:docs\/(?:guide\/)?[\w-]+\.(?:md|png|svg)$|examples\/)/;
    const others = packed.filter((path) => !path.startsWith("dist/") && !documented.test(path)).toSorted();
    expect(others).toEqual([
      "LICENSE",
      "README.md",
      "docs/schemas/exposure-lock.schema.json",
      "docs/schemas/view-rules.schema.json",
      "package.json",
      "templates/express/README.md",
      "templates/express/manifest.json",
      "templates/express/src/server.ts",
      "templates/shared/gitignore",
      "templates/shared/src/app.ts",
      "templates/shared/src/surface.ts",
      "templates/shared/test/app.test.ts",
      "templates/shared/tsconfig.json",
      "templates/stdio/README.md",
      "templates/stdio/manifest.json",
      "templates/stdio/src/server.ts",
    ]);
  });

  it("holds all that its documents link to by a relative path when it is packed", () => {
    const documents = packed.filter((path) => path.endsWith(".md"));
    const links = documents.flatMap((document) => linksOf(document).map((target) => ({ document, target })));
    const dead = links.filter(({ target }) => !packed.some((path) => path === target || path.startsWith(`${target}/`)));
    expect(links.length).toBeGreaterThan(100);
    // Link to what only contributors read by https://github.com/surface-mcp/surface-mcp/blob/main/…
    expect(dead).toEqual([]);
  });

  it("holds no example that is not a file of the repository when it is packed", () => {
    const kept = new Set(execFileSync("git", ["ls-files", "examples"], { cwd: root, encoding: "utf8" }).split("\n"));
    expect(packed.filter((path) => path.startsWith("examples/") && !kept.has(path))).toEqual([]);
  });

  it("has no script that npm runs, or warns of, when it is installed", () => {
    // npm packs the manifest as it is. It warns of "prepare" in an archive, though it never runs it there.
    const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const atInstall = ["preinstall", "install", "postinstall", "prepare"];
    expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  });

  it("holds only modules and their declarations, and the three files of the live page, when dist is packed", () => {
    const inside = packed.filter((path) => path.startsWith("dist/") && !page.includes(path));
    expect(inside).toContain("dist/index.js");
    expect(packed.filter((path) => path.startsWith("dist/page/")).toSorted()).toEqual(page);
    expect(inside.filter((path) => !/\.(?:js|d\.ts)$/.test(path))).toEqual([]);
    expect(inside.filter((path) => /\.(?:test|bench|examples)\.|fixture|__/.test(path))).toEqual([]);
  });

  it("holds the modules and declarations that its exports and its command reach, and no other, when dist is packed", () => {
    const entries = [...entrySources.values()].map((path) => path.replace(/^src\//, "dist/").replace(/\.ts$/, ""));
    const modules = reachedFrom(
      [...entries, "dist/cli/main", "dist/chunks/inspector-socket"].map((entry) => `${entry}.js`),
    );
    const declarations = reachedFrom(entries.map((entry) => `${entry}.d.ts`));
    const inside = packed.filter((path) => path.startsWith("dist/") && !page.includes(path));
    expect(inside.toSorted()).toEqual([...modules, ...declarations].toSorted());
    expect(modules.size).toBeGreaterThan(entries.length);
    expect(declarations.size).toBeGreaterThan(entries.length);
  });

  it("stays within its number of files and bytes when it is packed", () => {
    expect(packed.length).toBeLessThanOrEqual(188);
    expect(packedBytes).toBeLessThanOrEqual(790_000);
  });
});
