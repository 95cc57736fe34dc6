import { readFileSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { codeOf } from "../errors.ts";
import { refused } from "./cli-errors.ts";

/** Resolves with the result of a file operation; with `undefined` if the file does not exist. */
export async function unlessMissing<TValue>(operation: Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the real path of a file, or of its nearest folder that exists. */
async function realPlace(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const real = await unlessMissing(realpath(at));
    if (real !== undefined) return real;
    if ((await unlessMissing(lstat(at))) !== undefined)
      throw refused(`Cannot write "${path}": the link "${at}" leads nowhere`);
  }
}

/**
 * Refuses a path that leads out of a folder by a symbolic link: the author of that folder, such as a repository, must not choose
 * which other file is written.
 *
 * @throws Refusal `REFUSED`, naming where the path leads.
 */
export async function assertInside(path: string, folder: string): Promise<void> {
  const [place, root] = [await realPlace(path), await realPlace(folder)];
  const way = relative(root, place);
  if (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep)) return;
  throw refused(
    `Cannot write "${path}": a symbolic link leads out of the project, to "${place}"; replace the link with a file or folder`,
  );
}

/** Returns the folder of this package. Found by the package's name, because this module is built to more than one place. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("surface-mcp/package.json"));
}

/** Returns the version of this package. */
export function readVersion(): string {
  // The package's own manifest.
  return (JSON.parse(readFileSync(join(packageFolder(), "package.json"), "utf8")) as { readonly version: string })
    .version;
}
