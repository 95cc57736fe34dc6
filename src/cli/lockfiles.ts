import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { maxLockfileLength } from "../lock/lockfile.ts";
import { foreignKind } from "../lock/read-lockfile.ts";
import { refused } from "./cli-errors.ts";

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
  const kind = foreignKind(path);
  if (kind !== undefined) throw refused(`Cannot write the lockfile "${path}": it is ${kind}; name a file`);
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
