import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A scratch project on disk. */
export interface Scratch {
  /** Absolute, with links resolved; only its owner may enter it. */
  readonly dir: string;
  /** Deletes it. Idempotent. */
  dispose(): Promise<void>;
}

/**
 * The templates end in `.txt`, so that the checks of the repository that holds them (formatter, linter, compiler)
 * pass them over: one of them has an error on purpose.
 */
const TEMPLATES = fileURLToPath(new URL("../scratch/", import.meta.url));
const SUFFIX = ".txt";

/**
 * Makes a fresh copy of a small TypeScript project with one planted error, in a new temporary folder. The caller owns
 * it and disposes it.
 */
export async function prepareScratch(): Promise<Scratch> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "ci-scratch-")));
  const dispose = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    await copyTemplates(dir);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { dir, dispose };
}

/**
 * The same copy in a folder that outlives its process: made where it is absent, and left as it is where it is not, with
 * everything that was repaired in it.
 */
export async function keepScratch(dir: string): Promise<void> {
  if (existsSync(dir)) return;
  // Half a copy, which a kill may leave, never stands under the name.
  const next = `${dir}.new`;
  await rm(next, { recursive: true, force: true });
  await mkdir(next, { mode: 0o700 });
  await copyTemplates(next);
  await rename(next, dir);
}

async function copyTemplates(dir: string): Promise<void> {
  for (const name of await readdir(TEMPLATES, { recursive: true })) {
    if (!name.endsWith(SUFFIX)) continue;
    const target = join(dir, name.slice(0, -SUFFIX.length));
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(TEMPLATES, name), target);
  }
}
