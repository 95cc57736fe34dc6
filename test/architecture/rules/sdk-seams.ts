import { importsOf, type Source } from "../source.ts";

/** The files that may import the protocol SDK, and what each may import of it. */
export const seams: Readonly<Record<string, string>> = {
  "src/mcp/sdk-server.ts": "@modelcontextprotocol/server",
  "src/mcp/sdk-stdio-seam.ts": "@modelcontextprotocol/server",
  "src/mcp/sdk-http-seam.ts": "@modelcontextprotocol/server",
};

const isSdk = (specifier: string): boolean => specifier.startsWith("@modelcontextprotocol/");

function isAllowed(path: string, specifier: string): boolean {
  const allowed = seams[path];
  return allowed !== undefined && (specifier === allowed || specifier.startsWith(`${allowed}/`));
}

/** Imports of the SDK, of values and of types, anywhere but in its seam. */
export function findSdkImports(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter(({ specifier }) => isSdk(specifier) && !isAllowed(source.path, specifier))
      .map(({ specifier, line }) => `${source.path}:${line} imports "${specifier}"`),
  );
}

/** Seams on the list that do not exist, or import no SDK any more. */
export function findIdleSeams(sources: readonly Source[]): string[] {
  return Object.keys(seams).filter((path) => {
    const source = sources.find((one) => one.path === path);
    return source === undefined || !importsOf(source).some(({ specifier }) => isSdk(specifier));
  });
}

/** The imports of what only run time knows, and why each is right: path of the importer, the expression. */
export const computedImports: Readonly<Record<string, string>> = {
  // The command looks at an app that its user names.
  "src/cli/load-app.ts": "pathToFileURL(path).href",
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
