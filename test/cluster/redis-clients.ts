import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { createClient } from "redis";
import { createClient as createClient5 } from "redis-5";
import type { Cluster } from "../../src/cluster/cluster.ts";
import type { RedisClient } from "../../src/redis/client-adapter.ts";
import { redis } from "../../src/redis/redis.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

/** A client of the test, and the end of it. */
interface Connected {
  readonly client: RedisClient;
  readonly end: () => unknown;
}

/** Makes a client for the socket of a server. */
export type Connect = (path: string) => Promise<Connected>;

const noError = (): void => {};

function endOf(client: { readonly isOpen: boolean; destroy(): void }): () => void {
  return () => {
    if (client.isOpen) client.destroy();
  };
}

/** The packages in their newest major version. */
export const newest: Readonly<Record<"ioredis" | "redis", Connect>> = {
  ioredis: async (path) => {
    const client = new Redis({ path });
    return { client, end: () => client.disconnect() };
  },
  redis: async (path) => {
    const client = createClient({ socket: { path, tls: false } });
    // It connects before redis() listens for its errors.
    await client.on("error", noError).connect();
    client.off("error", noError);
    return { client, end: endOf(client) };
  },
};

/** The major versions before, and clients that are set to other replies. */
export const others: Readonly<Record<string, Connect>> = {
  "ioredis 5": async (path) => {
    const client = new Redis5({ path });
    return { client, end: () => client.disconnect() };
  },
  "ioredis over RESP2, with a prefix and pipelines": async (path) => {
    const client = new Redis({ path, protocol: 2, keyPrefix: "p:", enableAutoPipelining: true, lazyConnect: true });
    return { client, end: () => client.disconnect() };
  },
  "redis 5": async (path) => {
    const client = createClient5({ socket: { path, tls: false } });
    await client.on("error", noError).connect();
    return { client, end: endOf(client) };
  },
  "redis over RESP2, without a queue": async (path) => {
    const client = createClient({ socket: { path, tls: false }, RESP: 2, disableOfflineQueue: true });
    await client.on("error", noError).connect();
    return { client, end: endOf(client) };
  },
};

/** Options of {@link joinRedis}. */
export interface JoinOptions {
  readonly connect?: Connect;
  readonly prefix?: string;
  readonly app?: string;
  readonly report?: (cause: unknown) => void;
}

/** Opens a cluster over a client of its own, until the end of the test. */
export async function joinRedis(path: string, options: JoinOptions = {}): Promise<Cluster> {
  const { connect = newest.ioredis, prefix = "test", app = "app", report = noError } = options;
  const { client, end } = await connect(path);
  atEndOfTest(end);
  const cluster = redis(client, { prefix });
  const opened = cluster.open({ app, report });
  atEndOfTest(() => opened.close());
  await opened.ready;
  return cluster;
}
