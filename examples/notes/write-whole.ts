import { randomUUID } from "node:crypto";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** For its owner alone, as long as nobody has said otherwise. */
const ownMode = 0o600;

interface Writing {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Writes a file beside `path`, in full and onto the disk, and puts it in place by `put`: nobody ever reads half of it. */
async function writeBeside({ path, text, mode }: Writing, put: (written: string) => Promise<void>): Promise<void> {
  const written = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const file = await open(written, "wx", ownMode);
    try {
      await file.writeFile(text);
      await file.chmod(mode);
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
  return writeBeside({ path, text, mode: ownMode }, (written) => link(written, path));
}

/** Puts a file in the place of what is there, in one step. Whoever could read or write that can do so with this. */
export async function replaceWhole(path: string, text: string): Promise<void> {
  const { mode } = await stat(path).catch(() => ({ mode: ownMode }));
  await writeBeside({ path, text, mode: mode & 0o777 }, (written) => rename(written, path));
}
