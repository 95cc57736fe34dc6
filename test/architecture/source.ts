import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Comment, type EcmaScriptModule, parseSync, type Program } from "oxc-parser";

/** The folder that holds package.json. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** One parsed file. `path` is relative to the repository, with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly module: EcmaScriptModule;
  readonly comments: readonly Comment[];
}

/** One import or re-export of a file: what it names, and where that is when it is a file of this repository. */
export interface Import {
  readonly specifier: string;
  /** The file meant, relative to the repository; `undefined` for a package or a module of node. */
  readonly target: string | undefined;
  readonly typeOnly: boolean;
  readonly line: number;
}

/** Parses text as if it stood in the file `path`: what a rule is tried on with a planted violation. */
export function toSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text, { lang: path.endsWith(".d.ts") ? "dts" : "ts" });
  if (errors.length > 0) throw new Error(`Parsing ${path}: ${errors[0]?.message ?? "unknown error"}`);
  return { path, text, program, module, comments };
}

/** Every file under `folder` whose name ends in `ending`, relative to the repository, sorted. */
export function listFiles(folder: string, ending: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => posix.join(folder, name.split(sep).join("/")))
    .toSorted();
}

/** Parses every `.ts` file under `folder`. */
export function readSources(folder: string): Source[] {
  return listFiles(folder, ".ts").map((path) => toSource(path, readFileSync(join(root, path), "utf8")));
}

/** The line of an offset, counted from 1. */
export function lineAt(source: Source, offset: number): number {
  return source.text.slice(0, offset).split("\n").length;
}

function resolve(source: Source, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(dirname(source.path), specifier) : undefined;
}

/** What a file imports: static, re-exported, `import()` with a literal, and `import("…")` in a type. */
export function importsOf(source: Source): Import[] {
  const found: { specifier: string; typeOnly: boolean; start: number }[] = [];
  for (const { moduleRequest, entries, start } of source.module.staticImports) {
    const typeOnly = entries.length > 0 && entries.every((entry) => entry.isType);
    found.push({ specifier: moduleRequest.value, typeOnly, start });
  }
  for (const { entries, start } of source.module.staticExports) {
    for (const { moduleRequest, isType } of entries) {
      if (moduleRequest !== null) found.push({ specifier: moduleRequest.value, typeOnly: isType, start });
    }
  }
  for (const { moduleRequest } of source.module.dynamicImports) {
    const specifier = source.text.slice(moduleRequest.start, moduleRequest.end).replace(/^["'`]|["'`]$/g, "");
    found.push({ specifier, typeOnly: false, start: moduleRequest.start });
  }
  for (const match of source.text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)) {
    const known = found.some((one) => Math.abs(one.start - match.index) < 10);
    if (!known) found.push({ specifier: match[1] ?? "", typeOnly: true, start: match.index });
  }
  return found.map(({ specifier, typeOnly, start }) => ({
    specifier,
    typeOnly,
    target: resolve(source, specifier),
    line: lineAt(source, start),
  }));
}

/** The folder of `src` that a file belongs to: `errors` and `index` for the two files that stand beside the folders. */
export function folderOf(path: string): string {
  const [, first = "", second] = path.split("/");
  return second === undefined ? first.replace(/\.ts$/, "") : first;
}
