import { importsOf, type Source } from "../source.ts";

/** Imports of the protocol SDK, of values and of types. */
export function findSdkImports(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter(({ specifier }) => specifier.startsWith("@modelcontextprotocol/"))
      .map(({ specifier, line }) => `${source.path}:${line} imports "${specifier}"`),
  );
}

/** The imports of what only run time knows, and why each is right: path of the importer, the expression. */
export const computedImports: Readonly<Record<string, string>> = {
  // The command looks at an app that its user names.
  "src/cli/load-app.ts": "pathToFileURL(path).href",
  // A module of this package. Bundlers keep every file of a literal import, also for a front end that only describes a surface.
  "src/stdio/stdio.ts": "href",
};

/** Packages that `src` imports without promising to install them. */
export function findUndeclaredPackages(sources: readonly Source[], declared: readonly string[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter(({ specifier, target }) => target === undefined && !specifier.startsWith("node:"))
      .filter(({ specifier }) => computedImports[source.path] !== specifier)
      .filter(({ specifier }) => !declared.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
      .map(({ specifier, line }) => `${source.path}:${line} imports "${specifier}"`),
  );
}
