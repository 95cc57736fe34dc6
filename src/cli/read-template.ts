import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { packageFolder, readVersion } from "./own-package.ts";
import type { TemplateName } from "./read-init-args.ts";

/** The text of each file of a project, by its path in the project. */
export type ProjectFiles = ReadonlyMap<string, string>;

/** npm leaves a `.gitignore` out of an archive, and a `package.json` would make a template a package with its own imports. */
const renamed: Readonly<Record<string, string>> = { gitignore: ".gitignore", "manifest.json": "package.json" };

function filesUnder(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => [renamed[path] ?? path, readFileSync(join(folder, path), "utf8")]);
}

function fillManifest(text: string, packageSpec: string): string {
  // A file of this package.
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  const dependencies = { ...manifest.dependencies, "surface-mcp": packageSpec };
  return `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`;
}

/**
 * Reads the files of a template, sorted by path: those of `templates/shared` and its own.
 *
 * @param packageSpec - the dependency on this package, as npm reads it
 */
export function readTemplate(name: TemplateName, packageSpec: string = `^${readVersion()}`): ProjectFiles {
  const files = ["shared", name].flatMap((part) => filesUnder(join(packageFolder(), "templates", part)));
  return new Map(
    files
      .map(([path, text]) => [path, path === "package.json" ? fillManifest(text, packageSpec) : text] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
