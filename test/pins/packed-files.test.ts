import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { entrySources } from "../architecture/package-entries.ts";
import { root } from "../architecture/source.ts";

let packed: readonly string[] = [];
let packedBytes = Number.POSITIVE_INFINITY;

/** The modules of this package that a built module imports, at once or later. */
function importedBy(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g)].map(([, specifier = ""]) =>
    posix.join(posix.dirname(path), specifier),
  );
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
    const documented = /^(?:docs\/(?:guide\/)?[\w-]+\.(?:md|svg)$|examples\/)/;
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

  it("holds what the readme links to, except for what only contributors read, when it is packed", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
    const dead = links.filter((link) => !packed.some((path) => path === link || path.startsWith(`${link}/`)));
    expect(links.length).toBeGreaterThan(20);
    expect([...new Set(dead)].toSorted()).toEqual(["AGENTS.md"]);
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

  it("holds only modules and their declarations when dist is packed", () => {
    const inside = packed.filter((path) => path.startsWith("dist/"));
    expect(inside).toContain("dist/index.js");
    expect(inside.filter((path) => !/\.(?:js|d\.ts)$/.test(path))).toEqual([]);
    expect(inside.filter((path) => /\.(?:test|bench|examples)\.|fixture|__/.test(path))).toEqual([]);
  });

  it("holds nothing that an earlier build left behind when dist is packed", () => {
    const orphans = packed
      .filter((path) => path.startsWith("dist/") && !path.startsWith("dist/node/"))
      .filter((path) => !existsSync(join(root, path.replace(/^dist\//, "src/").replace(/\.(?:js|d\.ts)$/, ".ts"))));
    expect(orphans).toEqual([]);
  });

  it("holds the modules and declarations that its exports reach, and no other, when dist is packed", () => {
    const bases = [...entrySources.values()].map((path) => path.replace(/^src\//, "dist/").replace(/\.ts$/, ""));
    const modules = new Set(bases.map((base) => `${base}.js`));
    for (const path of modules) for (const next of importedBy(path)) modules.add(next);
    const declarations = new Set(bases.map((base) => `${base}.d.ts`));
    for (const path of declarations) {
      for (const next of importedBy(path)) declarations.add(next.replace(/\.[jt]s$/, ".d.ts"));
    }
    const inside = packed.filter((path) => path.startsWith("dist/") && !path.startsWith("dist/node/"));
    expect(inside.toSorted()).toEqual([...modules, ...declarations].toSorted());
    expect(modules.size).toBeGreaterThan(300);
    expect(declarations.size).toBeGreaterThan(100);
  });

  it("stays within its number of files and bytes when it is packed", () => {
    expect(packed.length).toBeLessThanOrEqual(1000);
    expect(packedBytes).toBeLessThanOrEqual(1_000_000);
  });

  it("holds the entries that Node takes, and what they load, and nothing else beside them when dist is packed", () => {
    const loaded = new Set(
      [...entrySources.values(), "src/cli/main.ts"].map((path) =>
        path.replace(/^src\//, "dist/node/").replace(/\.ts$/, ".js"),
      ),
    );
    for (const path of loaded) for (const next of importedBy(path)) loaded.add(next);
    expect(packed.filter((path) => path.startsWith("dist/node/")).toSorted()).toEqual([...loaded].toSorted());
    expect(loaded.size).toBeGreaterThan(10);
  });
});
