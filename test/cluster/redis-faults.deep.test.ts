import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { redis } from "../../src/redis/redis.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { collect, expectAway } from "./contract.ts";
import { joinRedis, newest } from "./redis-clients.ts";
import { hasRedis, RedisServer, whyNoRedis } from "./redis-server.ts";
import { until } from "./until.ts";

const minute = 60_000;
const away = expect.objectContaining({ code: "UNAVAILABLE" });

/** Publishes until the others receive again. A text may be lost, and then there is a gap. */
async function untilHeard(from: Cluster, received: string[]): Promise<void> {
  await until(() => {
    from.bus.publish("t", "heard");
    return received.includes("heard");
  });
}

/** Ways in which Redis answers nothing for a while. Each resolves with a function that has it answer again. */
const stalls = {
  "is paused": async (server: RedisServer): Promise<() => unknown> => {
    server.pause();
    return () => server.resume();
  },
  "runs DEBUG SLEEP": async (server: RedisServer, cluster: Cluster): Promise<() => unknown> => {
    const slept = server.run("DEBUG", "SLEEP", "4");
    const isAsleep = (): Promise<boolean> =>
      cluster.store.now().then(
        () => false,
        () => true,
      );
    await until(isAsleep);
    return () => slept;
  },
};

describe.runIf(hasRedis).each(Object.entries(newest))(`faults of Redis under %s${whyNoRedis}`, (_name, connect) => {
  const server = new RedisServer();
  beforeEach(async () => {
    await server.start();
    atEndOfTest(() => server.kill());
  });
  afterAll(() => server.remove());
  const join = (report?: (cause: unknown) => void): Promise<Cluster> =>
    joinRedis(server.path, { connect, ...(report !== undefined && { report }) });

  it("everything rejects at once, and the bus has a gap afterwards, when Redis is killed and comes back empty", async () => {
    const report = vi.fn<(cause: unknown) => void>();
    const [a, b] = [await join(report), await join()];
    const received = collect(b, "t");
    await a.store.set("k", "v", minute);
    await server.kill();
    await until(() => !a.isAvailable && !b.isAvailable);
    await expectAway(a);
    a.bus.publish("t", "lost");
    expect(report.mock.calls).toEqual([[away]]);
    await server.start();
    await until(() => a.isAvailable && b.isAvailable && received.includes("GAP"));
    expect(await b.store.get("k")).toBeUndefined();
    await untilHeard(a, received);
    expect(received).not.toContain("lost");
  });

  it.each(Object.entries(stalls))(
    "commands reject within a second, and later ones at once, when Redis %s",
    async (_, stall) => {
      const [a, b] = [await join(), await join()];
      const received = collect(b, "t");
      const resume = await stall(server, a);
      await expectAway(a);
      const before = performance.now();
      await expectAway(a);
      // The second round did not wait for Redis: it took a small part of the second that the first one did.
      expect(performance.now() - before).toBeLessThan(900);
      expect(a.isAvailable).toBe(false);
      a.bus.publish("t", "lost");
      await resume();
      await until(() => a.isAvailable && received.includes("GAP"));
      await untilHeard(a, received);
      await a.store.set("k", "v", minute);
      expect(await b.store.get("k")).toBe("v");
    },
  );

  it("writes reject, reads and the bus go on, and isAvailable is false when Redis is full", async () => {
    const report = vi.fn<(cause: unknown) => void>();
    const [a, b] = [await join(report), await join()];
    const received = collect(b, "t");
    await a.store.set("k", "v", minute);
    await server.run("CONFIG", "SET", "maxmemory", "1");
    await expect(a.store.set("k", "w", minute)).rejects.toEqual(away);
    await expect(a.store.claim("new", "w", minute)).rejects.toEqual(away);
    await expect(a.store.take("m", [{ group: "g", most: 1 }], minute)).rejects.toEqual(away);
    expect([await a.store.get("k"), await b.store.get("new"), a.isAvailable]).toEqual(["v", undefined, false]);
    a.bus.publish("t", "x");
    await until(() => received.includes("x"));
    expect(report.mock.calls).toEqual([[away]]);
    expect(String(report.mock.calls)).toContain("maxmemory");
    await server.run("CONFIG", "SET", "maxmemory", "0");
    await until(() => a.isAvailable);
    expect(await a.store.claim("new", "w", minute)).toBe(true);
  });

  it("the bus has a gap and goes on when Redis closes the connections of subscribers", async () => {
    const [a, b] = [await join(), await join()];
    const received = collect(b, "t");
    await server.run("CLIENT", "KILL", "TYPE", "pubsub");
    await until(() => received.includes("GAP"));
    await untilHeard(a, received);
    expect(b.isAvailable).toBe(true);
  });

  it("the bus has a gap when Redis loses its data and keeps its connections", async () => {
    const received = [collect(await join(), "t"), collect(await join(), "t")];
    await server.run("FLUSHALL");
    await until(() => received.every((texts) => texts.length > 0));
    expect(received).toEqual([["GAP"], ["GAP"]]);
  });

  it("a subscriber that is too slow gets a gap when Redis cuts it", async () => {
    const [a, b] = [await join(), await join()];
    const received = collect(b, "t");
    await server.run("CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 1mb 0");
    const script = `for number = 1, 10000 do redis.call('PUBLISH', KEYS[1], string.format(ARGV[1], number)) end`;
    const message = JSON.stringify({ from: "slow", number: 0, topic: "t", text: "x".repeat(1000) });
    await server.run("EVAL", script, "1", "test:bus", message.replace(":0,", ":%d,"));
    await until(() => received.includes("GAP"));
    expect(received.length).toBeLessThan(10_000);
    await untilHeard(a, received);
  });

  it("close() leaves only the connection of the author when two openers close", async () => {
    const { client, end } = await connect(server.path);
    atEndOfTest(end);
    const cluster = redis(client, { prefix: "test" });
    const [one, two] = [1, 2].map(() => cluster.open({ app: "app", report: () => {} }));
    await one?.ready;
    await one?.close();
    await one?.close();
    expect(await cluster.isAlive(cluster.replica)).toBe(true);
    await two?.close();
    expect(await cluster.isAlive(cluster.replica)).toBe(false);
    await until(async () => (await server.run("CLIENT", "LIST")).match(/addr=/g)?.length === 4);
    const again = cluster.open({ app: "app", report: () => {} });
    await again.ready;
    expect(await cluster.isAlive(cluster.replica)).toBe(true);
    await again.close();
  });

  it("close() ends within two seconds when Redis is away", async () => {
    const { client, end } = await connect(server.path);
    atEndOfTest(end);
    const opened = redis(client).open({ app: "app", report: () => {} });
    await opened.ready;
    server.pause();
    await Promise.race([opened.close(), delay(10_000).then(() => Promise.reject(new Error("close() hangs")))]);
    expect(await server.kill()).toBeUndefined();
  });

  it("ready rejects within six seconds, and the cluster goes on trying, when Redis is not there", async () => {
    const { client, end } = await connect(server.path);
    atEndOfTest(end);
    const report = vi.fn<(cause: unknown) => void>();
    const cluster = redis(client, { prefix: "test" });
    await server.kill();
    const opened = cluster.open({ app: "app", report });
    atEndOfTest(() => opened.close());
    await expect(opened.ready).rejects.toEqual(away);
    await server.start();
    await until(() => cluster.isAvailable);
    await cluster.open({ app: "app", report }).ready;
    // `ready` has told it.
    expect(report.mock.calls).toEqual([]);
  });

  it("the subscriber is replaced, and reported once, when it receives nothing", async () => {
    const report = vi.fn<(cause: unknown) => void>();
    const [a, b] = [await join(), await join(report)];
    const received = collect(b, "t");
    await server.run("ACL", "SETUSER", "default", "-subscribe");
    await server.run("CLIENT", "KILL", "TYPE", "pubsub");
    await until(() => report.mock.calls.length > 0);
    await server.run("ACL", "SETUSER", "default", "+subscribe");
    await untilHeard(a, received);
    expect(b.isAvailable).toBe(true);
    expect(
      report.mock.calls.map(String).filter((text) => text.includes("its subscriber receives nothing")),
    ).toHaveLength(1);
  });
});
