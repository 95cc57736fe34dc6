import { lstat, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertInside } from "./assert-inside.ts";
import { refused } from "./cli-errors.ts";
import { unlessMissing } from "./file-errors.ts";
import type { ProjectFiles } from "./read-template.ts";

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
