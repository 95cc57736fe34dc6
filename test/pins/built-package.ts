import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { build, type BuildResult } from "esbuild";
import { manifest } from "../architecture/package-entries.ts";
import { root } from "../architecture/source.ts";

const require = createRequire(import.meta.url);

/** Loads an entry of the built package by its public name, as a user's import would. */
export async function importEntry(subpath: string): Promise<Record<string, unknown>> {
  const specifier = subpath === "." ? manifest.name : `${manifest.name}/${subpath.replace(/^\.\//, "")}`;
  return import(pathToFileURL(require.resolve(specifier)).href);
}

/** A bundle, and what it is made of. */
export interface Bundle {
  readonly text: string;
  readonly bytes: number;
  /** Files of this package that left something in the bundle, relative to the repository. */
  readonly files: readonly string[];
  /** Packages and modules of node that the bundle still imports. */
  readonly imports: readonly string[];
}

function toBundle({ outputFiles, metafile }: BuildResult<{ metafile: true; write: false }>): Bundle {
  const output = Object.values(metafile.outputs)[0];
  const kept = Object.entries(output?.inputs ?? {}).filter(
    ([path, { bytesInOutput }]) => path !== "<stdin>" && bytesInOutput > 0,
  );
  return {
    text: outputFiles[0]?.text ?? "",
    bytes: outputFiles[0]?.contents.byteLength ?? 0,
    files: kept.map(([path]) => path).toSorted(),
    imports: [...new Set((output?.imports ?? []).map((one) => one.path))].toSorted(),
  };
}

/** Bundles code that imports the built package by its name, minified, with every other package left outside. */
export async function bundle(code: string): Promise<Bundle> {
  const built = await build({
    stdin: { contents: code, resolveDir: root, loader: "js" },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(manifest.dependencies),
  });
  return toBundle(built);
}
