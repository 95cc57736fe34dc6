import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { maxLockfileLength } from "../lock/lockfile.ts";
import { refused } from "./cli-errors.ts";
import { unlessMissing } from "./files.ts";

/** Refuses a path that exists and is not a plain file. @returns its size in bytes; `undefined` if it does not exist. */
async function sizeOf(path: string, doing: string): Promise<number | undefined> {
  const stats = await unlessMissing(lstat(path));
  if (stats === undefined || stats.isFile()) return stats?.size;
  const kind = stats.isSymbolicLink() ? "a symbolic link" : stats.isDirectory() ? "a folder" : "not a file";
  throw refused(`${doing} "${path}": it is ${kind}; name a file`);
}

/** Returns the text of a lockfile. @throws Refusal `REFUSED` for anything but a file of at most 32 MiB. */
export async function readLockfile(path: string): Promise<string> {
  const doing = "Cannot read the lockfile";
  const size = await sizeOf(path, doing);
  if (size === undefined)
    throw refused(`${doing} "${path}": it does not exist; run "surface-mcp lock" and commit the file`);
  if (size > maxLockfileLength) throw refused(`${doing} "${path}": it is larger than ${maxLockfileLength} bytes`);
  const handle = await open(path, "r");
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Returns the text of a stream. @throws Refusal `REFUSED` if it is larger than 32 MiB. */
export async function readStream(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxLockfileLength)
      throw refused(`Cannot read the lockfile: it is larger than ${maxLockfileLength} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Replaces a lockfile in one step, so that no reader sees half of it. @throws Refusal `REFUSED` for anything but a file. */
export async function writeLockfile(path: string, text: string): Promise<void> {
  await sizeOf(path, "Cannot write the lockfile");
  const temporary = `${path}.${randomUUID()}.tmp`;
  const handle = await open(temporary, "wx");
  try {
    await handle.writeFile(text);
    await handle.close();
    await rename(temporary, path);
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
}
