import { once } from "node:events";
import type { Stats } from "node:fs";
import { link, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownAccess, type FileAccess } from "../../../src/links/unix/safe-paths.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";

/** Runs when the test is over, the last one first. */
export function afterThis(close: () => unknown): void {
  atEndOfTest(close);
}

/** A directory of its own for each test, as private as sockets ask for. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "surface-mcp-"));
  atEndOfTest(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A server that speaks no protocol. */
export async function listenRaw(path: string, server: Server = createServer(() => {})): Promise<Server> {
  server.listen(path);
  await once(server, "listening");
  afterThis(() => server.close());
  return server;
}

/** Puts a socket at `path` that nobody answers on, as a process that was killed leaves it. */
export async function leaveStale(path: string): Promise<void> {
  const server = createServer();
  server.listen(`${path}~`);
  await once(server, "listening");
  await link(`${path}~`, `${path}-`);
  server.close();
  await once(server, "close");
  await rename(`${path}-`, path);
}

/** The files of this process, each of a group that strangers are in. */
export function strangersGroup(): FileAccess {
  const lstat = async (path: string): Promise<Stats> => Object.assign(await ownAccess.lstat(path), { gid: 4713 });
  return { ...ownAccess, lstat };
}

/** The files of this process, asked for by another user, or owned by one. */
export function accessOf(change: { readonly uid?: number; readonly ownerUid?: number }): FileAccess {
  const owned = async (asked: Promise<Stats>): Promise<Stats> => {
    const stats = await asked;
    if (change.ownerUid !== undefined) stats.uid = change.ownerUid;
    return stats;
  };
  return {
    ...ownAccess,
    uid: change.uid ?? ownAccess.uid,
    lstat: (path) => owned(ownAccess.lstat(path)),
  };
}

/** The files of this process as Linux shows them in a user namespace: those of these paths belong to no user inside of it. */
export function namespaceAccess(uidMap: string, unmapped: readonly string[]): FileAccess {
  const texts = new Map([
    ["/proc/self/uid_map", uidMap],
    ["/proc/sys/kernel/overflowuid", "65534\n"],
  ]);
  return {
    uid: ownAccess.uid,
    lstat: async (at) =>
      Object.assign(await ownAccess.lstat(at), { uid: unmapped.includes(at) ? 65534 : ownAccess.uid }),
    readText: async (path) => texts.get(path) ?? ownAccess.readText(path),
  };
}
