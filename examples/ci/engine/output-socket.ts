import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";

/** What the names of its folders begin with. */
export const OUTPUT_PREFIX = "ci-out-";

/** Both ends of one local socket. */
export interface OutputSocket {
  /** Give it to a child as stdout and as stderr, then destroy it: the child holds copies. */
  readonly writer: Socket;
  /** What the child and its descendants write; ends when the last of them has closed or exited. */
  readonly reader: Socket;
}

/**
 * Opens a socket that a child can have as stdout and stderr at once, so that both arrive in the order in which they
 * were written. Two pipes cannot promise that. A file could, but without a bound on what it takes on disk. (A child
 * that queues its own writes, as Node does when a socket is full, decides the order itself.)
 *
 * The caller destroys both ends. The socket's name lives in a private folder below `parent` that is gone before this
 * returns; only a kill in between leaves it.
 */
export async function openOutputSocket(parent: string): Promise<OutputSocket> {
  const folder = await mkdtemp(join(parent, OUTPUT_PREFIX));
  const server = createServer();
  try {
    const path = join(folder, "s");
    server.listen(path);
    await once(server, "listening");
    const accepted = new Promise<Socket>((resolve, reject) => {
      server.once("connection", resolve);
      server.once("error", reject);
    });
    const writer = connect(path);
    const [reader] = await Promise.all([accepted, once(writer, "connect")]);
    return { writer, reader };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
