import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entrySources } from "../architecture/package-entries.ts";
import { importsOf, root, type Source, toSource } from "../architecture/source.ts";

/** The declaration file that an import of a declaration file means. */
function declarationOf(target: string): string {
  return target.replace(/\.(?:ts|js)$/, "").replace(/\.d$/, "") + ".d.ts";
}

/** Every declaration file that the compiler reads for an entry, the entry first. */
function filesOf(entry: string): Source[] {
  const seen = new Map<string, Source>();
  const queue = [entry];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    const source = toSource(path, readFileSync(join(root, path), "utf8"));
    seen.set(path, source);
    for (const { target } of importsOf(source)) if (target !== undefined) queue.push(declarationOf(target));
  }
  return [...seen.values()];
}

const declarations = [...entrySources].map(
  ([name, path]) => [name, path.replace(/^src\//, "dist/").replace(/\.ts$/, ".d.ts")] as const,
);

describe("public types", () => {
  it.each(declarations)(
    "the types of %s speak of these packages and no others when they are followed",
    (_name, path) => {
      const sources = filesOf(path);
      expect(sources.length).toBeGreaterThan(1);
      const packages = sources.flatMap((source) =>
        importsOf(source).flatMap(({ specifier, target }) => (target === undefined ? [specifier] : [])),
      );
      // node:stream is what stdio() may be given to read and write, and the reason to have @types/node installed; node:http
      // what a handler is mounted on, and jose has the type of a set of keys.
      const allowed = ["@standard-schema/spec", "type-fest", "node:stream", "node:http", "jose"];
      expect([...new Set(packages)].filter((name) => !allowed.includes(name))).toEqual([]);
    },
  );

  it.each(declarations)("the types of %s have the names of their sources when they are read", (_name, path) => {
    // Joining renames a type if another has its name, or a type variable: `Kind$1`. Editors and messages show that. Rename the other.
    const names = filesOf(path).flatMap(({ text }) => text.match(/[\w$]+\$\d+\b/g) ?? []);
    expect([...new Set(names)]).toEqual([]);
  });

  it.each(declarations)("the types of %s name no type of the protocol SDK when they are read", (_name, path) => {
    expect(existsSync(join(root, path))).toBe(true);
    // Comments may: whoever attaches to a server of the SDK is told of which.
    const code = filesOf(path).map((source) => [source.path, source.text.replaceAll(/\/\*[\s\S]*?\*\//g, "")] as const);
    expect(code.filter(([, text]) => text.includes("@modelcontextprotocol/")).map(([named]) => named)).toEqual([]);
  });
});
