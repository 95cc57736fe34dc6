import { lstat, realpath } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { refused } from "./cli-errors.ts";
import { unlessMissing } from "./file-errors.ts";

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
