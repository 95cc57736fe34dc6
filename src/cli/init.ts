import { readdirSync, readFileSync, statSync } from "node:fs";
import { lstat, mkdir, open, rm } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { escapeInvisible } from "../schema/visible-text.ts";
import { refused, usage } from "./cli-errors.ts";
import { assertInside, packageFolder, readVersion, unlessMissing } from "./files.ts";
import type { CliEnvironment } from "./terminal.ts";

/** Folders of `templates/`. */
const templateNames = ["stdio", "express"] as const;

type TemplateName = (typeof templateNames)[number];

/** The arguments of `init`. */
interface InitRequest {
  /** The folder as the user wrote it. */
  readonly folder: string;
  readonly template: TemplateName;
  /** The version or archive of this package that the project depends on; `undefined` for the running version. */
  readonly packageSpec: string | undefined;
}

const options = {
  template: { type: "string", default: "stdio" },
  package: { type: "string" },
} as const satisfies ParseArgsConfig["options"];

const doing = "Cannot create a project";

function readTemplateName(word: string): TemplateName {
  const found = templateNames.find((name) => name === word);
  if (found === undefined) throw usage(`${doing}: "--template" must be ${templateNames.join(" or ")}, is "${word}"`);
  return found;
}

/** Makes a path absolute: npm reads one in a manifest from the folder of that manifest, the user wrote it from the working folder. */
function readPackage(spec: string | undefined, cwd: string): string | undefined {
  if (spec === undefined) return undefined;
  if (spec === "") throw usage(`${doing}: "--package" must not be empty`);
  // A URL of an archive has a colon.
  const isPath = spec.startsWith(".") || isAbsolute(spec) || /^[^:]*\.tgz$/.test(spec);
  return isPath ? `file:${resolve(cwd, spec)}` : spec;
}

/**
 * Reads the arguments of `init`.
 *
 * @throws Refusal `USAGE`.
 */
function readInitArgs(args: readonly string[], cwd: string): InitRequest {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const [folder = ".", ...more] = positionals;
  if (more.length > 0) throw usage(`${doing}: name one folder, not ${positionals.length}`);
  if (folder === "") throw usage(`${doing}: the folder must not be empty`);
  return { folder, template: readTemplateName(values.template), packageSpec: readPackage(values.package, cwd) };
}

/** The text of each file of a project, by its path in the project. */
type ProjectFiles = ReadonlyMap<string, string>;

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
function readTemplate(name: TemplateName, packageSpec: string = `^${readVersion()}`): ProjectFiles {
  const files = ["shared", name].flatMap((part) => filesUnder(join(packageFolder(), "templates", part)));
  return new Map(
    files
      .map(([path, text]) => [path, path === "package.json" ? fillManifest(text, packageSpec) : text] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** @throws Refusal `REFUSED` if a file exists, or if a symbolic link leads out of the folder. */
async function assertFree(folder: string, paths: readonly string[]): Promise<void> {
  const taken: string[] = [];
  for (const path of paths) {
    if ((await unlessMissing(lstat(join(folder, path)))) !== undefined) taken.push(path);
    else await assertInside(join(folder, path), folder);
  }
  if (taken.length === 0) return;
  throw refused(`Cannot write to "${folder}": these files exist: ${taken.join(", ")}; name an empty folder`);
}

async function writeNew(path: string, text: string, written: string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Exclusive, so a file or link that appears after the check is left alone.
  const handle = await open(path, "wx");
  written.push(path);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/**
 * Writes files below a folder, and creates missing folders. Never replaces a file, and writes none if one exists. If writing fails,
 * it removes the files that it wrote; new folders stay.
 *
 * @throws Refusal `REFUSED` if a file exists, or if a symbolic link leads out of the folder. Errors of the file system.
 */
export async function writeNewFiles(folder: string, files: ProjectFiles): Promise<void> {
  await assertFree(folder, [...files.keys()]);
  const written: string[] = [];
  try {
    for (const [path, text] of files) await writeNew(join(folder, path), text, written);
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    throw error;
  }
}

function changeTo(folder: string): string {
  const shown = escapeInvisible(folder);
  return /^[\w./-]+$/.test(shown) ? `cd ${shown} && ` : `cd "${shown}" && `;
}

/**
 * Writes a new project into a folder: a server, its tests, and the list of what an agent can reach. Asks nothing.
 *
 * @throws Refusal `USAGE` or `REFUSED`; nothing has been written then.
 */
export async function init(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const { folder, template, packageSpec } = readInitArgs(args, setting.cwd);
  const target = resolve(setting.cwd, folder);
  const files = readTemplate(template, packageSpec);
  await writeNewFiles(target, files);
  const written = [...files.keys()].map((path) => `  ${path}\n`).join("");
  setting.write(`wrote ${files.size} files to "${escapeInvisible(target)}":\n${written}`);
  setting.write(`\nnext:\n  ${target === setting.cwd ? "" : changeTo(folder)}npm install\n  npm start\n`);
}
