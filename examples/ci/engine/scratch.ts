import { copyFile, mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
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
    for (const name of await readdir(TEMPLATES, { recursive: true })) {
      if (!name.endsWith(SUFFIX)) continue;
      const target = join(dir, name.slice(0, -SUFFIX.length));
      await mkdir(dirname(target), { recursive: true });
      await copyFile(join(TEMPLATES, name), target);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { dir, dispose };
}
