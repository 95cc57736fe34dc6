import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { RedisServer } from "../../examples/cluster/start.ts";
import type { Random } from "../attack/random.ts";
import type { ChaosClient, Load } from "./chaos-client.ts";

/** Parts of a run that a disturbance may touch. */
export interface Disturbed {
  readonly server: RedisServer;
  readonly store: Redis;
  readonly clients: readonly ChaosClient[];
  readonly load: Load;
  readonly random: Random;
}

const emptyCluster = `for _, key in ipairs(redis.call('keys', 'ledger-mcp*')) do redis.call('unlink', key) end`;

/** Stops the process of Redis for a while. */
async function stopRedis({ store, random }: Disturbed): Promise<void> {
  const [, pid] = /process_id:(\d+)/.exec(await store.info("server")) ?? [];
  process.kill(Number(pid), "SIGSTOP");
  await pause(500 + random.below(2000));
  process.kill(Number(pid), "SIGCONT");
}

/** Removes everything that the replicas share; the ledger stays. */
async function emptyRedis({ store }: Disturbed): Promise<void> {
  await store.eval(emptyCluster, 0);
}

/**
 * Kills Redis and starts an empty one. Clients only read meanwhile, and the ledger is put back: ioredis sends commands without an answer
 * again, so an entry that was being added might be there twice.
 */
async function killRedis({ server, store, clients, load }: Disturbed): Promise<void> {
  load.isReadOnly = true;
  while (clients.some(({ inFlight }) => inFlight)) await pause(20);
  const ledger = await store.lrange("ledger", 0, -1);
  await server.kill();
  await pause(300);
  await server.restart();
  for (let at = 0; at < ledger.length; at += 1000) await store.rpush("ledger", ...ledger.slice(at, at + 1000));
  load.isReadOnly = false;
}

type Named = readonly [name: string, disturb: (parts: Disturbed) => Promise<void>];

/** No disturbance. */
export const quiet: Named = ["none", () => Promise.resolve()];

/** Disturbances of Redis by name, in the order in which a run takes them. */
export const disturbances: readonly Named[] = [
  ["Redis stopped for a while", stopRedis],
  ["keys of the cluster removed", emptyRedis],
  quiet,
  ["Redis killed, and begun empty", killRedis],
];
