import * as esbuild from "esbuild";

/**
 * Joins modules as Node takes the package: one file an entry, and one for each part that entries share or load later, so
 * that there is one of each class and symbol, whichever entries are loaded. Packages stay outside.
 */
export async function joinModules({ entries, base, out }) {
  await esbuild.build({
    entryPoints: entries,
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
  });
}
