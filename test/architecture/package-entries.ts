import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./source.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** The package's own package.json. */
export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Subpath of the exports map -> the source file it is built from. Files that are no modules are data and not entries. */
export const entrySources: ReadonlyMap<string, string> = new Map(
  Object.entries(manifest.exports)
    .filter(([, target]) => target.endsWith(".js"))
    .map(([subpath, target]) => [subpath, target.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts")]),
);
