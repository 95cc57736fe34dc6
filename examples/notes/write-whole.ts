import { randomUUID } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes a file beside `path`, in full and onto the disk, and puts it in place by `put`: nobody ever reads half of it. */
async function writeBeside(path: string, text: string, put: (written: string) => Promise<void>): Promise<void> {
  const written = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const file = await open(written, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await put(written);
  } finally {
    await rm(written, { force: true });
  }
}

/** Makes a file. Fails with `EEXIST` where there is one, whoever made it and however late: a link never replaces. */
export function createWhole(path: string, text: string): Promise<void> {
  return writeBeside(path, text, (written) => link(written, path));
}

/** Puts a file in the place of what is there, in one step. */
export function replaceWhole(path: string, text: string): Promise<void> {
  return writeBeside(path, text, (written) => rename(written, path));
}
