import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as esbuild from "esbuild";

/** Lets the entries, and each part that is loaded later, import `core`, so that all of them share all that `core` reaches. */
function importCore(core, entries) {
  const importers = new Set(entries);
  importers.delete(core);
  return {
    name: "import-core",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind === "dynamic-import") importers.add(resolve(resolveDir, path));
        return undefined;
      });
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!importers.has(path)) return undefined;
        return { contents: `import ${JSON.stringify(core)};\n${await readFile(path, "utf8")}`, loader: "ts" };
      });
    },
  };
}

/**
 * Joins modules as Node takes the package: one file an entry, one for `core`, and one for each part that entries share or load later.
 * There is one of each class and symbol, whichever entries are loaded. Packages stay outside.
 *
 * @param core - a module that most entries load as a whole. What it reaches becomes one file: without it, esbuild makes a file for each
 *   set of modules that the same entries share, and Node takes about a millisecond for each. Entries in `alone` do not load it.
 */
export async function joinModules({ entries, alone = [], core, base, out }) {
  await esbuild.build({
    entryPoints: [...entries, ...alone],
    outbase: base,
    outdir: out,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    chunkNames: "chunks/[name]-[hash]",
    legalComments: "none",
    logLevel: "warning",
    // esbuild would drop an import of `core` that names nothing, because the package has no side effects.
    ignoreAnnotations: true,
    plugins: [importCore(core, entries)],
  });
}
