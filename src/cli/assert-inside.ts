import { lstat, realpath } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { refused } from "./cli-errors.ts";
import { unlessMissing } from "./file-errors.ts";

/** Where a path really is, or would be: that of its nearest folder that exists. */
async function realPlace(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const real = await unlessMissing(realpath(at));
    if (real !== undefined) return real;
    if ((await unlessMissing(lstat(at))) !== undefined)
      throw refused(`Cannot change "${path}": the link "${at}" leads nowhere`);
  }
}

/**
 * Refuses a path that leads out of a folder by a symbolic link: whoever made the folder, such as the author of a repository, must
 * not choose which other file is changed.
 *
 * @throws Refusal `REFUSED`, naming where the path leads.
 */
export async function assertInside(path: string, folder: string): Promise<void> {
  const [place, root] = [await realPlace(path), await realPlace(folder)];
  const way = relative(root, place);
  if (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep)) return;
  throw refused(
    `Cannot change "${path}": a symbolic link leads out of the project, to "${place}"; change that file by hand`,
  );
}
