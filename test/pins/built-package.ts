import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, relative } from "node:path";
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

const importPatterns = {
  now: /\bfrom\s*"(\.{1,2}\/[^"]+)"/g,
  ever: /(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g,
};

/** Files of `dist`, and those that they import: at once alone, or also later. Declarations import declarations. */
export function reachedFrom(
  starts: readonly string[],
  when: keyof typeof importPatterns = "ever",
): ReadonlySet<string> {
  const found = new Set(starts);
  for (const path of found) {
    for (const [, specifier = ""] of readFileSync(join(root, path), "utf8").matchAll(importPatterns[when])) {
      const next = posix.join(posix.dirname(path), specifier);
      found.add(path.endsWith(".d.ts") ? next.replace(/\.[jt]s$/, ".d.ts") : next);
    }
  }
  return found;
}

/** The sources of which built modules consist. The build writes the path of each above its code. */
export function sourcesOf(modules: Iterable<string>): string[] {
  const texts = Array.from(modules, (path) => readFileSync(join(root, path), "utf8"));
  return texts
    .flatMap((text) => Array.from(text.matchAll(/^\/\/ (src\/\S+\.ts)$/gm), ([, path = ""]) => path))
    .toSorted();
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
  /** The code that is loaded at once. */
  readonly text: string;
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

function toBundle({ metafile, outputFiles }: Built): Bundle {
  const closure = closureOf(metafile);
  const outputs = Object.entries(metafile.outputs);
  const atOnce = outputs.filter(([path]) => closure.has(path)).map(([, output]) => output);
  const sum = (all: readonly { bytes: number }[]): number => all.reduce((total, { bytes }) => total + bytes, 0);
  const kept = atOnce.flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  );
  const external = atOnce.flatMap((output) =>
    output.imports.filter((one) => one.external && one.kind === "import-statement"),
  );
  return {
    bytes: sum(atOnce),
    laterBytes: sum(outputs.map(([, output]) => output)) - sum(atOnce),
    files: kept
      .map(([path]) => path)
      .filter((path) => path !== "<stdin>")
      .toSorted(),
    imports: [...new Set(external.map((one) => one.path))].toSorted(),
    text: outputFiles
      .filter(({ path }) => closure.has(relative(root, path)))
      .map(({ text }) => text)
      .join("\n"),
  };
}

/**
 * Bundles code that imports the built package by its name, minified, with every other package left outside. Only where it is split is what is loaded later counted apart;
 * but then everything that is loaded later by any file is kept.
 */
export async function bundle(code: string, { splitting = false, minify = true } = {}): Promise<Bundle> {
  const built = await build({
    stdin: { contents: code, resolveDir: root, loader: "js" },
    absWorkingDir: root,
    outdir: "bundled",
    bundle: true,
    splitting,
    minify,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(manifest.dependencies),
  });
  return toBundle(built);
}
