import { once } from "node:events";
import { rename } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { redis } from "../../src/redis/redis.ts";
import { ask, get, initialize, openReplicas, post, until } from "../http/cluster/replicas.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { collect } from "./contract.ts";
import { newest } from "./redis-clients.ts";
import { hasRedis, RedisServer, whyNoRedis } from "./redis-server.ts";

/** Redis replicates over TCP only. */
async function findPort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  // A TCP server has an address of this form.
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  return port;
}

async function startServer(...options: readonly string[]): Promise<RedisServer> {
  const server = new RedisServer(...options);
  atEndOfTest(() => server.remove());
  await server.start();
  return server;
}

/** Starts a primary, and a function that promotes a replica of its data in its place after it was killed. */
async function startPair() {
  const port = String(await findPort());
  const primary = await startServer("--port", port, "--repl-diskless-sync-delay", "0");
  const standby = await startServer("--replicaof", "127.0.0.1", port);
  const promote = async (): Promise<void> => {
    // A replica applies writes in order: with this one it has all before.
    await primary.run("SET", "marker", "last");
    await until(async () => (await standby.run("GET", "marker")).includes("last"));
    await primary.kill();
    await standby.run("REPLICAOF", "NO", "ONE");
    await rename(standby.path, primary.path);
  };
  return { path: primary.path, promote };
}

const list = { id: "l", method: "tools/list" };
const walk = { id: "w", method: "tools/call", params: { name: "walk", arguments: {}, _meta: { progressToken: "p" } } };

describe.runIf(hasRedis).each(Object.entries(newest))(`failover under %s${whyNoRedis}`, (_name, connect) => {
  it("sessions and their streams go on, and the bus has a gap, when a replica of Redis is promoted", async () => {
    const { path, promote } = await startPair();
    const clients = [await connect(path), await connect(path)];
    for (const { end } of clients) atEndOfTest(end);
    const clusters = clients.map(({ client }) => redis(client, { prefix: "test" }));
    const opening = clusters.values();
    const replicas = await openReplicas({ isKnown: true, wrap: (none) => opening.next().value ?? none });
    atEndOfTest(() => replicas.close());
    const [a, b] = replicas.all;
    if (a === undefined || b === undefined) throw new Error("there are two replicas");
    const session = await initialize(a, "ada");
    const walking = await post(a, walk, { session, token: "ada" });
    await until(() => a.walks.waiting === 1);
    a.walks.go();
    await until(() => walking.messages.length === 1);
    const received = clusters.map((cluster) => collect(cluster, "t"));

    await promote();
    await until(() => received.every((texts) => texts.includes("GAP")) && clusters.every((one) => one.isAvailable));

    // The second replica knows the session and its stream from the promoted data alone.
    expect((await ask(b, list, { session, token: "bob" })).status).toBe(404);
    expect((await ask(b, list, { session, token: "ada" })).status).toBe(200);
    const resumed = await get(b, { session, token: "ada", lastId: walking.lastId });
    a.walks.go(true);
    await until(() => resumed.messages.some(({ id }) => id === "w"));
    expect(resumed.messages).toMatchObject([{ id: "w", result: { structuredContent: { done: true } } }]);
    expect(await initialize(b, "bob")).not.toBe(session);
  });
});
