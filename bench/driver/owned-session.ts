import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicMs } from "../tools/orders.ts";
import { openSession } from "./open-session.ts";
import { type Era, toWatching } from "./requests.ts";
import { ServerProcess } from "./server-process.ts";
import type { ValueOwner } from "./value-owner.ts";

/** A session, and the process that owns the value: the server's own, or one behind a socket. */
export interface OwnedSession {
  readonly server: ServerProcess;
  readonly owner: ValueOwner;
  stop(): Promise<void>;
}

/** Starts a server that owns the value itself, and opens a session with it. The caller stops it. */
export async function openInProcess(args: readonly string[], era: Era): Promise<OwnedSession> {
  const server = await openSession(args, era, { owns: true });
  return { server, owner: server.owner, stop: () => server.stop() };
}

/** Starts the owner, and a server that reaches it over a Unix socket. The caller stops both by the session. */
export async function openBridged(args: readonly string[], era: Era): Promise<OwnedSession> {
  const folder = await mkdtemp(join(tmpdir(), "surface-mcp-bench-"));
  const path = join(folder, "bench.sock");
  const backend = new ServerProcess([...args, "--listen", path], { owns: true });
  const stopBackend = async (): Promise<void> => {
    await backend.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // It obeys when it listens.
    await backend.owner.report();
    const server = await openSession([...args, "--bridge", path], era);
    const stop = async (): Promise<void> => {
      await server.stop();
      await stopBackend();
    };
    return { server, owner: backend.owner, stop };
  } catch (cause) {
    await stopBackend();
    throw cause;
  }
}

/** A session that watches the counter. */
export interface WatchedSession extends OwnedSession {
  readonly era: Era;
  /** When each notice has arrived, by the clock that all processes share. Grows. */
  readonly arrivals: number[];
}

/** Watches the counter of a session. */
export async function watchCounter(session: OwnedSession, era: Era): Promise<WatchedSession> {
  const arrivals: number[] = [];
  await session.server.ask(toWatching(era));
  session.server.attend((count) => {
    const now = monotonicMs();
    for (let notice = 0; notice < count; notice += 1) arrivals.push(now);
  });
  return { ...session, era, arrivals };
}
