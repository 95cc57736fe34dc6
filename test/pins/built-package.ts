import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type BuildResult } from "esbuild";
import { entrySources, manifest } from "../architecture/package-entries.ts";
import { root } from "../architecture/source.ts";

const require = createRequire(import.meta.url);

/** Loads an entry of the built package by its public name, as a user's import would. */
export async function importEntry(subpath: string): Promise<Record<string, unknown>> {
  const specifier = subpath === "." ? manifest.name : `${manifest.name}/${subpath.replace(/^\.\//, "")}`;
  return import(pathToFileURL(require.resolve(specifier)).href);
}

/** A bundle, and what it is made of. What is loaded later is in files of its own, and counted apart. */
export interface Bundle {
  /** Bytes that are loaded at once. */
  readonly bytes: number;
  /** Bytes that are loaded when something needs them. */
  readonly laterBytes: number;
  /** Files of this package that left something in what is loaded at once, relative to the repository. */
  readonly files: readonly string[];
  /** Packages and modules of node that are loaded at once. */
  readonly imports: readonly string[];
}

type Built = BuildResult<{ metafile: true; write: false }>;

/** The outputs that are loaded with the entry. */
function closureOf({ outputs }: Built["metafile"]): ReadonlySet<string> {
  const entry = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === "<stdin>");
  const found = new Set(entry === undefined ? [] : [entry[0]]);
  // A set that grows is walked to its new end.
  for (const path of found) {
    for (const one of outputs[path]?.imports ?? [])
      if (one.kind === "import-statement" && !one.external) found.add(one.path);
  }
  return found;
}

function toBundle({ metafile }: Built): Bundle {
  const closure = closureOf(metafile);
  const outputs = Object.entries(metafile.outputs);
  const atOnce = outputs.filter(([path]) => closure.has(path)).map(([, output]) => output);
  const sum = (all: readonly { bytes: number }[]): number => all.reduce((total, { bytes }) => total + bytes, 0);
  const kept = atOnce.flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  );
  const imports = atOnce.flatMap((output) =>
    output.imports.filter((one) => one.external && one.kind === "import-statement"),
  );
  return {
    bytes: sum(atOnce),
    laterBytes: sum(outputs.map(([, output]) => output)) - sum(atOnce),
    files: kept
      .map(([path]) => path)
      .filter((path) => path !== "<stdin>")
      .toSorted(),
    imports: [...new Set(imports.map((one) => one.path))].toSorted(),
  };
}

/**
 * Bundles code that imports the built package by its name, minified, with every other package left outside: module by
 * module, as bundlers for anything but Node take it. Only where it is split is what is loaded later counted apart;
 * but then everything that is loaded later by any file is kept.
 */
export async function bundle(code: string, { splitting = false } = {}): Promise<Bundle> {
  const built = await build({
    stdin: { contents: code, resolveDir: root, loader: "js" },
    absWorkingDir: root,
    outdir: "bundled",
    bundle: true,
    splitting,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(manifest.dependencies),
    alias: Object.fromEntries(
      Array.from(entrySources, ([subpath, source]) => [
        join(manifest.name, subpath),
        join(root, source.replace(/^src/, "dist").replace(/\.ts$/, ".js")),
      ]),
    ),
  });
  return toBundle(built);
}
