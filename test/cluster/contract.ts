import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Cluster, ReplayEntry } from "../../src/cluster/cluster.ts";
import { until } from "./until.ts";

/** Opens a cluster of one more replica, and closes it at the end of the test. */
export type Join = () => Promise<Cluster>;

const minute = 60_000;
const keys = [
  "",
  "plain",
  "a:b:{c}*?[x]",
  "\u0000\n\r\t",
  "ünïcödé 🙂",
  "x".repeat(5000),
  "__proto__",
  "\uD800",
  "\uDBFF",
];

/** Collects what a replica receives on a topic; gaps are "GAP". */
export function collect(cluster: Cluster, topic: string): string[] {
  const received: string[] = [];
  cluster.bus.subscribe(topic, { message: (text) => received.push(text), gap: () => received.push("GAP") });
  return received;
}

const unavailable = expect.objectContaining({ name: "SurfaceError", code: "UNAVAILABLE" });

/** Expects that everything with a promise rejects, and soon. */
export async function expectAway(cluster: Cluster): Promise<void> {
  const bucket = { key: "b", cost: 1, size: 1, msPerToken: 1 };
  const bounds = { maxEntries: 9, ttlMs: minute };
  const results = await Promise.allSettled([
    cluster.store.now(),
    cluster.store.get("k"),
    cluster.store.set("k", "v", minute),
    cluster.store.claim("c", "v", minute),
    cluster.store.swap("k", { before: "v", after: "w" }, minute),
    cluster.store.renew("k", minute),
    cluster.store.delete("k"),
    cluster.store.take("m", [{ group: "g", most: 1 }], minute),
    cluster.store.leave("m", ["g"]),
    cluster.log.append("l", { number: 1, text: "t" }, bounds),
    cluster.log.read("l", 0),
    cluster.limiter.take([bucket]),
    cluster.isAlive("0"),
  ]);
  expect(results).toEqual(results.map(() => ({ status: "rejected", reason: unavailable })));
}

/** What each implementation of the ports keeps. `join` is called in tests only. */
export function describeCluster(name: string, join: Join): void {
  describe(`${name}: store`, () => {
    testStore(join);
    testExpiry(join);
    testClaims(join);
    testPlaces(join);
  });
  describe(`${name}: bus, log and limiter`, () => {
    testBus(join);
    testLog(join);
    testLimiter(join);
  });
}

function testStore(join: Join): void {
  it.each(keys)("get() returns the value of exactly its key when the key is %j", async (key) => {
    const [a, b] = [await join(), await join()];
    for (const [index, one] of keys.entries()) await a.store.set(one, `value ${index}`, minute);
    expect(await b.store.get(key)).toBe(`value ${keys.indexOf(key)}`);
    expect(await b.store.get(`${key}x`)).toBeUndefined();
  });

  it("get() returns the same text when it has every kind of character", async () => {
    const { store } = await join();
    for (const text of ["", '\u0000json:"x"', "\u0000\uFFFF\r\n", "🙂".repeat(1000), '{"a":[1]}', "12", "nil"]) {
      await store.set("k", text, minute);
      expect(await store.get("k")).toBe(text);
    }
  });

  it("set() takes 1 MiB and rejects with OVERFLOW above it when values are large", async () => {
    const { store, log } = await join();
    const most = "é".repeat(524_288);
    await store.set("k", most, minute);
    expect(await store.get("k")).toBe(most);
    const over = expect.objectContaining({ code: "OVERFLOW" });
    await expect(store.set("k", `${most}x`, minute)).rejects.toEqual(over);
    await expect(store.claim("new", `${most}x`, minute)).rejects.toEqual(over);
    await expect(store.swap("k", { before: most, after: `${most}x` }, minute)).rejects.toEqual(over);
    await expect(log.append("l", { number: 1, text: `${most}x` }, { maxEntries: 9, ttlMs: minute })).rejects.toEqual(
      over,
    );
    expect(await store.get("k")).toBe(most);
    expect(await store.get("new")).toBeUndefined();
  });
}

function testExpiry(join: Join): void {
  it("a value expires after its time and not before it was renewed when it has a time to live", async () => {
    const { store } = await join();
    await store.set("short", "v", 40);
    await store.set("renewed", "v", 40);
    expect(await store.renew("renewed", minute)).toBe(true);
    await until(async () => (await store.get("short")) === undefined);
    expect(await store.get("renewed")).toBe("v");
    expect(await store.renew("short", minute)).toBe(false);
    expect(await store.swap("short", { before: "v", after: "w" }, minute)).toBe(false);
    expect(await store.delete("short")).toBe(false);
    expect(await store.claim("short", "w", minute)).toBe(true);
  });

  it("now() is the time of the store when values expire by it", async () => {
    const { store } = await join();
    const before = await store.now();
    await store.set("k", "v", 30);
    await until(async () => (await store.get("k")) === undefined);
    expect((await store.now()) - before).toBeGreaterThanOrEqual(30);
  });

  it("delete() resolves with true once when a value is deleted twice", async () => {
    const [a, b] = [await join(), await join()];
    await a.store.set("k", "v", minute);
    const deleted = await Promise.all([a.store.delete("k"), b.store.delete("k")]);
    expect(deleted.filter(Boolean)).toHaveLength(1);
    expect(await a.store.get("k")).toBeUndefined();
  });
}

function testClaims(join: Join): void {
  it("claim() resolves with true for exactly one when two replicas claim 100 keys at once", async () => {
    const [a, b] = [await join(), await join()];
    for (let round = 0; round < 100; round++) {
      const won = await Promise.all([a.store.claim(`k${round}`, "a", minute), b.store.claim(`k${round}`, "b", minute)]);
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await a.store.get(`k${round}`)).toBe(won[0] ? "a" : "b");
    }
  });

  it("swap() lets exactly one succeed when many replace the same value", async () => {
    const [a, b] = [await join(), await join()];
    await a.store.set("k", "before", minute);
    const swaps = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? a : b).store.swap("k", { before: "before", after: String(index) }, minute),
    );
    const won = (await Promise.all(swaps)).flatMap((isWon, index) => (isWon ? [String(index)] : []));
    expect(won).toHaveLength(1);
    expect(await b.store.get("k")).toBe(won[0]);
  });

  it("swap() loses no increment when two replicas count", async () => {
    const replicas = [await join(), await join()];
    await replicas[0]?.store.set("n", "0", minute);
    const count = async ({ store }: Cluster): Promise<void> => {
      for (let done = 0; done < 25;) {
        const before = (await store.get("n")) ?? "";
        if (await store.swap("n", { before, after: String(Number(before) + 1) }, minute)) done++;
      }
    };
    await Promise.all([...replicas, ...replicas].map(count));
    expect(await replicas[1]?.store.get("n")).toBe("100");
  });
}

function testPlaces(join: Join): void {
  const places = (own: number): { group: string; most: number }[] => [
    { group: "all", most: 10 },
    { group: "own", most: own },
  ];

  it("take() never gives more places than there are when two replicas take at once", async () => {
    const [a, b] = [await join(), await join()];
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? a : b).store.take(`m${index}`, places(50), minute)),
    );
    expect(taken.filter((full) => full === undefined)).toHaveLength(10);
    expect(taken.filter((full) => full === "all")).toHaveLength(50);
  });

  it("take() takes no place at all when one of the groups is full", async () => {
    const { store } = await join();
    expect(await store.take("first", [{ group: "own", most: 1 }], minute)).toBeUndefined();
    expect(await store.take("second", places(1), minute)).toBe("own");
    for (let index = 0; index < 10; index++)
      expect(await store.take(`m${index}`, [{ group: "all", most: 10 }], minute)).toBeUndefined();
    expect(await store.take("more", [{ group: "all", most: 10 }], minute)).toBe("all");
  });

  it("take() renews the place of a member and leave() gives it back when the group is full", async () => {
    const [a, b] = [await join(), await join()];
    const one = [{ group: "g", most: 1 }];
    expect(await a.store.take("m", one, minute)).toBeUndefined();
    expect(await b.store.take("m", one, minute)).toBeUndefined();
    expect(await b.store.take("n", one, minute)).toBe("g");
    await b.store.leave("m", ["g", "unknown"]);
    await b.store.leave("m", []);
    expect(await b.store.take("n", one, minute)).toBeUndefined();
    expect(await b.store.take("n", [], minute)).toBeUndefined();
  });

  it("take() gives a place of a member who is gone when its time has passed", async () => {
    const { store } = await join();
    expect(await store.take("gone", [{ group: "g", most: 2 }], 60)).toBeUndefined();
    expect(await store.take("kept", [{ group: "g", most: 2 }], minute)).toBeUndefined();
    await until(async () => (await store.take("next", [{ group: "g", most: 2 }], minute)) === undefined);
    expect(await store.take("third", [{ group: "g", most: 2 }], minute)).toBe("g");
  });
}

function testBus(join: Join): void {
  it("publish() reaches the subscribers of the others in order when three replicas are open", async () => {
    const [a, b, c] = [await join(), await join(), await join()];
    const [own, atB, atC, other] = [collect(a, "t"), collect(b, "t"), collect(c, "t"), collect(b, "other")];
    const sent = Array.from({ length: 200 }, (_, index) => `${index} "\u0000\n🙂`);
    for (const text of sent) a.bus.publish("t", text);
    await until(() => atB.length >= 200 && atC.length >= 200);
    expect([atB, atC, own, other]).toEqual([sent, sent, [], []]);
  });

  it("subscribe() ends when its function was called, also twice", async () => {
    const [a, b] = [await join(), await join()];
    const received: string[] = [];
    const listener = { message: (text: string) => void received.push(text), gap: () => {} };
    const [end] = [b.bus.subscribe("t", listener), b.bus.subscribe("t", listener)];
    const last = collect(b, "t");
    end();
    end();
    a.bus.publish("t", "x");
    await until(() => last.length > 0);
    expect(received).toEqual(["x"]);
  });

  it("publish() carries 64 KiB and announces a gap for more when texts are long", async () => {
    const [a, b] = [await join(), await join()];
    const received = collect(b, "t");
    a.bus.publish("t", "é".repeat(32_768));
    await until(() => received.length === 1);
    a.bus.publish("t", "é".repeat(32_768).concat("x"));
    a.bus.publish("t", "after");
    await until(() => received.length === 3);
    expect(received.map((text) => text.slice(0, 5))).toEqual(["ééééé", "GAP", "after"]);
  });

  it("isAlive() is true for open replicas when it is asked", async () => {
    const [a, b] = [await join(), await join()];
    expect(a.replica).toMatch(/^[0-9a-f]+$/);
    expect(a.replica).not.toBe(b.replica);
    expect([await a.isAlive(a.replica), await a.isAlive(b.replica), await a.isAlive("0123")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([a.isAvailable, b.isAvailable]).toEqual([true, true]);
  });
}

/** Reads a log until its end. */
async function readAll({ log }: Cluster): Promise<readonly ReplayEntry[]> {
  const found: ReplayEntry[] = [];
  for (let size = 1; size > 0;) {
    const entries = await log.read("l", found.at(-1)?.number ?? 0);
    size = entries.length;
    found.push(...entries);
  }
  return found;
}

function testLog(join: Join): void {
  const bounds = { maxEntries: 1000, ttlMs: minute };

  it("read() returns every entry behind a number when it is called until the end of a log", async () => {
    const [a, b] = [await join(), await join()];
    const entries = Array.from({ length: 300 }, (_, index) => ({ number: index + 1, text: `e${index} \n🙂` }));
    const appended = await Promise.all(entries.map((entry) => a.log.append("l", entry, bounds)));
    expect(appended).toEqual(entries.map(() => true));
    expect(await readAll(b)).toEqual(entries);
    expect((await b.log.read("l", 256))[0]).toEqual(entries[256]);
    expect(await b.log.read("l", 300)).toEqual([]);
    expect(await b.log.read("unknown", 0)).toEqual([]);
  });

  it("read() returns a part of a log when its entries are large", async () => {
    const replica = await join();
    const text = "x".repeat(1_048_576);
    for (let number = 1; number <= 10; number++) await replica.log.append("l", { number, text }, bounds);
    expect((await replica.log.read("l", 0)).length).toBeLessThan(10);
    expect(await readAll(replica)).toHaveLength(10);
  });

  it("append() lets exactly one succeed when two replicas append the same number", async () => {
    const [a, b] = [await join(), await join()];
    for (let number = 1; number <= 30; number++) {
      const won = await Promise.all(
        [a, b].map(({ log }, index) => log.append("l", { number, text: `${index}` }, bounds)),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await a.log.read("l", number - 1)).toEqual([{ number, text: won[0] ? "0" : "1" }]);
    }
    expect(await b.log.append("l", { number: 7, text: "late" }, bounds)).toBe(false);
  });

  it("append() drops the oldest entries and read() shows only the newest when a log is bounded", async () => {
    const replica = await join();
    for (let number = 1; number <= 400; number++)
      await replica.log.append("l", { number, text: "t" }, { ...bounds, maxEntries: 20 });
    const kept = await readAll(replica);
    expect(kept.length).toBeGreaterThanOrEqual(20);
    expect(kept.length).toBeLessThan(256);
    expect(kept.at(-1)?.number).toBe(400);
  });

  it("a log is gone when its time has passed after the last entry", async () => {
    const { log } = await join();
    expect(await log.append("l", { number: 1, text: "t" }, { maxEntries: 5, ttlMs: 40 })).toBe(true);
    await until(async () => (await log.read("l", 0)).length === 0);
  });
}

function testLimiter(join: Join): void {
  it("take() never gives more tokens than a bucket has when two replicas take at once", async () => {
    const [a, b] = [await join(), await join()];
    const bucket = { key: "k", cost: 1, size: 20, msPerToken: minute };
    const waits = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? a : b).limiter.take([bucket])),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(20);
    expect(waits.filter((wait) => wait > minute / 2 && wait <= minute)).toHaveLength(40);
  });

  it("take() takes from no bucket when one of them has too little", async () => {
    const { limiter } = await join();
    const large = { key: "large", cost: 1, size: 2, msPerToken: minute };
    const small = { key: "small", cost: 3, size: 2, msPerToken: 10 };
    expect(await limiter.take([large, small])).toBeGreaterThan(0);
    expect([await limiter.take([large]), await limiter.take([large])]).toEqual([0, 0]);
    expect(await limiter.take([large])).toBeGreaterThan(0);
    expect(await limiter.take([])).toBe(0);
  });

  it("take() gives a token again when the wait that it named has passed", async () => {
    const { limiter } = await join();
    const bucket = { key: "k", cost: 1, size: 1, msPerToken: 100 };
    expect(await limiter.take([bucket])).toBe(0);
    const wait = await limiter.take([bucket]);
    expect(wait > 0 && wait <= 100).toBe(true);
    await delay(wait + 2);
    expect(await limiter.take([bucket])).toBe(0);
  });
}
