import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { redis } from "../../src/redis/redis.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { collect, expectAway } from "./contract.ts";
import { joinRedis, newest } from "./redis-clients.ts";
import { hasRedis, RedisServer, whyNoRedis } from "./redis-server.ts";
import { until } from "./until.ts";

const minute = 60_000;
const away = expect.objectContaining({ code: "UNAVAILABLE" });
const foreign = expect.objectContaining({ code: "INVALID_OPTION" });

describe.runIf(hasRedis)(`bad contents of Redis${whyNoRedis}`, () => {
  const server = new RedisServer();
  beforeAll(() => server.start());
  beforeEach(() => server.run("FLUSHALL"));
  afterAll(() => server.remove());

  it.each([
    ["another app", `{"version":1,"app":"other","since":"x"}`, 'the app "other"'],
    ["another version of the format", `{"version":2,"app":"app","since":"x"}`, "version 2"],
    ["another program", "hello", "another program"],
    ["JSON of another program", "null", "another program"],
  ])(
    "a replica is refused with a sentence, and changes nothing, when the prefix belongs to %s",
    async (_whose, format, part) => {
      await server.run("SET", "test:format", format);
      const { client, end } = await newest.ioredis(server.path);
      atEndOfTest(end);
      const report = vi.fn<(cause: unknown) => void>();
      const cluster = redis(client, { prefix: "test" });
      const opened = cluster.open({ app: "app", report });
      atEndOfTest(() => opened.close());
      await expect(opened.ready).rejects.toEqual(foreign);
      await expect(opened.ready).rejects.toThrow(`Cannot join the cluster: the prefix "test" belongs to ${part}`);
      await expectAway(cluster);
      expect([cluster.isAvailable, report.mock.calls]).toEqual([false, [[away]]]);
      expect(await server.run("DBSIZE")).toBe(":1\r\n");
    },
  );

  it("the second opener of one cluster is refused when it is another app", async () => {
    const cluster = await joinRedis(server.path);
    const { ready } = cluster.open({ app: "other", report: () => {} });
    await expect(ready).rejects.toEqual(foreign);
  });

  it("two apps share one Redis when their prefixes differ", async () => {
    const [a, b] = [await joinRedis(server.path), await joinRedis(server.path, { prefix: "two", app: "other" })];
    const received = collect(b, "t");
    await a.store.set("k", "v", minute);
    a.bus.publish("t", "x");
    expect([await b.store.get("k"), await a.isAlive(b.replica), received]).toEqual([undefined, false, []]);
  });

  it("garbage on the channel is ignored and reported once when another program publishes", async () => {
    const report = vi.fn<(cause: unknown) => void>();
    const cluster = await joinRedis(server.path, { report });
    const received = collect(cluster, "t");
    const garbage = [
      ...[
        "",
        "x",
        "[",
        "null",
        "1",
        "[]",
        "{}",
        '{"from":1}',
        '{"from":"a","number":"1"}',
        '{"from":"a","number":1e99}',
      ],
      ...['{"from":"a","number":1,"topic":"t"}', '{"from":"a","number":1,"topic":1,"text":1}', "[".repeat(200_000)],
      ...["\u0000\uFFFF", `"${"x".repeat(2_000_000)}"`],
    ];
    for (const text of garbage) await server.run("PUBLISH", "test:bus", text);
    await server.run("PUBLISH", "test:bus", '{"from":"a","number":7,"topic":"t","text":"fits"}');
    await until(() => received.length > 0);
    expect(received).toEqual(["fits"]);
    expect(report.mock.calls).toEqual([[away]]);
    expect(cluster.isAvailable).toBe(true);
  });

  it("missing numbers are a gap, and a repeated message is none, when messages come from another replica", async () => {
    const received = collect(await joinRedis(server.path), "t");
    const send = (number: number, more: object = {}): Promise<string> =>
      server.run("PUBLISH", "test:bus", JSON.stringify({ from: "a", number, ...more }));
    const text = (number: number): Promise<string> => send(number, { topic: "t", text: String(number) });
    for (const number of [5, 6, 6, 5, 7, 9]) await text(number);
    await send(9);
    await send(10);
    await send(10, { lost: true });
    await text(11);
    await until(() => received.includes("11"));
    expect(received).toEqual(["5", "6", "6", "5", "7", "GAP", "9", "GAP", "GAP", "11"]);
  });

  it("commands reject and nothing breaks when keys have another type", async () => {
    const { store, log, limiter } = await joinRedis(server.path);
    for (const key of ["value:k", "group:k", "log:k", "bucket:k"]) await server.run("HSET", `test:${key}`, "a", "b");
    const results = await Promise.allSettled([
      store.get("k"),
      store.swap("k", { before: "a", after: "b" }, minute),
      store.take("m", [{ group: "k", most: 1 }], minute),
      store.leave("m", ["k"]),
      log.append("k", { number: 1, text: "" }, { maxEntries: 1, ttlMs: minute }),
      log.read("k", 0),
      limiter.take([{ key: "k", cost: 1, size: 1, msPerToken: 1 }]),
    ]);
    expect(results).toEqual(results.map(() => ({ status: "rejected", reason: away })));
    expect(await store.claim("k", "v", minute)).toBe(false);
  });

  it("foreign entries and numbers are left out when another program wrote to logs and buckets", async () => {
    const { log, limiter } = await joinRedis(server.path);
    await server.run("XADD", "test:log:k", "1-5", "t", "x");
    await server.run("XADD", "test:log:k", "2-0", "other", "x", "more", "y");
    await log.append("k", { number: 3, text: "own" }, { maxEntries: 9, ttlMs: minute });
    expect(await log.read("k", 0)).toEqual([{ number: 3, text: "own" }]);
    for (const value of ["x", "1e400", "-1e400", "nan", "99999999999999999"]) {
      await server.run("SET", "test:bucket:k", value);
      expect(await limiter.take([{ key: "k", cost: 1, size: 9, msPerToken: 10 }])).toBeLessThan(100);
    }
  });
});

describe.runIf(hasRedis)(`many replicas over Redis${whyNoRedis}`, () => {
  const server = new RedisServer();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  it("exactly one claims, and times are those of Redis, when 100 replicas have clocks an hour apart", async () => {
    const { client, end } = await newest.ioredis(server.path);
    atEndOfTest(end);
    const replicas = Array.from({ length: 100 }, () => redis(client, { prefix: "many" }));
    await until(() => "status" in client && client.status === "ready");
    vi.useFakeTimers({ toFake: ["Date"] });
    atEndOfTest(() => vi.useRealTimers());
    const start = Date.now();
    const atOwnTime = <TValue>(work: (cluster: Cluster) => Promise<TValue>): Promise<TValue[]> =>
      Promise.all(
        replicas.map((cluster, index) => {
          vi.setSystemTime(start + (index - 50) * 72_000);
          return work(cluster);
        }),
      );
    const claims = await atOwnTime(({ store, replica }) => store.claim("k", replica, minute));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await replicas[7]?.store.get("k")).toBe(replicas[claims.indexOf(true)]?.replica);
    const taken = await atOwnTime(({ store, replica }) => store.take(replica, [{ group: "g", most: 7 }], minute));
    expect(taken.filter((full) => full === undefined)).toHaveLength(7);
    const bucket = { key: "b", cost: 1, size: 9, msPerToken: minute };
    const waits = await atOwnTime(({ limiter }) => limiter.take([bucket]));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(9);
    const times = await atOwnTime(({ store }) => store.now());
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(minute);
  });
});
