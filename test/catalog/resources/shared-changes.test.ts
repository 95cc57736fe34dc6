import { describe, expect, it, vi } from "vitest";
import { anonymous } from "../../../src/surface/caller.ts";
import { changesTopic } from "../../../src/catalog/resources/shared-changes.ts";
import { LossyCluster } from "../../cluster/lossy-cluster.ts";
import { settle } from "../../surface/support.ts";
import { Database, type Replica, replicas, stockUri, type Way } from "./replicas.ts";

const ways: readonly Way[] = [
  { answers: "at once", hears: "own" },
  { answers: "later", hears: "own" },
  { answers: "at once", hears: "all" },
  { answers: "later", hears: "all" },
];

function two(way: Way = { answers: "at once", hears: "own" }) {
  const cluster = new LossyCluster();
  const database = new Database(way);
  const [a, b] = replicas(2, { cluster, database }) as [Replica, Replica];
  return { cluster, database, a, b };
}

const changeTexts = ({ texts }: LossyCluster) => texts.filter(({ topic }) => topic === changesTopic);

describe("changes of a resource that is watched on another replica", () => {
  it.each(ways)("are announced there, once each: it answers $answers, and $hears hear", async (way) => {
    const { database, a, b } = two(way);
    const [onA, onB] = [vi.fn<() => void>(), vi.fn<() => void>()];
    await b.watch(onB);
    await settle(20);
    expect(onB).not.toHaveBeenCalled();
    for (const stock of [1, 2, 3]) {
      database.write(0, (db) => (db.stock = stock));
      await settle(20);
      expect(onB).toHaveBeenCalledTimes(stock);
      expect(await b.read()).toBe(stock);
    }
    await a.watch(onA);
    await settle(20);
    database.write(1, (db) => (db.stock = 4));
    await settle(20);
    expect([onA.mock.calls.length, onB.mock.calls.length]).toEqual([1, 4]);
  });

  it.each(ways)("are announced if they came before the other replica followed it: $answers, $hears", async (way) => {
    const { database, b } = two(way);
    const onB = vi.fn<() => void>();
    await b.watch(onB);
    // The text of what is watched is on its way.
    database.write(0, (db) => (db.stock = 1));
    await settle(20);
    expect(onB).toHaveBeenCalledTimes(1);
  });

  it("are announced if the text comes while the source is read for the first time", async () => {
    const { cluster, b } = two({ answers: "later", hears: "own" });
    const onB = vi.fn<() => void>();
    const watching = b.watch(onB);
    cluster.inject(changesTopic, JSON.stringify(["ab", [stockUri, "12345678", false]]));
    await watching;
    await expect.poll(() => onB).toHaveBeenCalled();
  });

  it("are announced after texts were lost, in any case", async () => {
    const { cluster, database, b } = two();
    const onB = vi.fn<() => void>();
    await b.watch(onB);
    await settle(20);
    cluster.cut(b.id);
    database.write(0, (db) => (db.stock = 1));
    await settle(20);
    database.write(0, (db) => (db.stock = 0));
    await settle(20);
    expect(onB).not.toHaveBeenCalled();
    cluster.heal(b.id);
    await settle(20);
    expect(onB).toHaveBeenCalledTimes(1);
  });

  it("are announced if the value is the former one again, since a reader may have seen the other", async () => {
    const { cluster, database, b } = two();
    const onB = vi.fn<() => void>();
    await b.watch(onB);
    await settle(20);
    // The replica reads the value when that is back already.
    database.write(0, (db) => (db.stock = 1));
    await settle(1);
    database.write(0, (db) => (db.stock = 0));
    await settle(20);
    expect(onB.mock.calls.length).toBeGreaterThan(0);
    expect(changeTexts(cluster).length).toBeLessThan(10);
  });

  it("end a wait_for_change, also if the value is the former one again", async () => {
    const { cluster, database, b } = two();
    const changed = b.waitForChange();
    await settle(20);
    database.write(0, (db) => (db.stock = 5));
    expect(await changed).toMatchObject({ status: "changed", changed: [stockUri] });
    const again = b.waitForChange();
    await settle(20);
    const [, , digest] = JSON.parse(cluster.texts.at(-1)?.text ?? "")[1];
    for (const told of ["12345678", digest])
      cluster.inject(changesTopic, JSON.stringify(["ab", [stockUri, told, false]]));
    expect(await again).toMatchObject({ status: "changed", changed: [stockUri] });
  });

  it("are those of items and keys of a collection, and of the list of resources", async () => {
    const { database, b } = two();
    const [keys, item, list] = [vi.fn<() => void>(), vi.fn<() => void>(), vi.fn<() => void>()];
    await b.watch(keys, "surface://store/orders");
    await b.watch(item, "surface://store/orders/a");
    const stop = b.runtime.resources.watchList(anonymous, "resources", list);
    await settle(20);
    database.write(0, ({ orders }) => orders.set("a", 7));
    await settle(20);
    expect([keys, item, list].map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]);
    database.write(0, ({ orders }) => orders.set("b", 1));
    await settle(20);
    expect([keys, item, list].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
    stop();
  });
});

describe("what travels between replicas", () => {
  it("is no value, and nothing that callers do not watch", async () => {
    const { cluster, database, b } = two();
    await b.watch(() => {});
    await settle(20);
    database.write(0, (db) => (db.stock = 4711));
    await settle(20);
    const text = JSON.stringify(cluster.texts);
    expect(text).toContain(stockUri);
    expect(text).not.toContain("4711");
    expect(text).not.toContain("orders");
  });

  it.each([
    "surface://store/hidden",
    "surface://store/mine",
    "surface://store/log",
    "surface://store/nope",
    "",
    "x".repeat(9000),
  ])("makes no replica watch %j", async (uri) => {
    const { cluster, database } = two();
    await settle(20);
    const before = changeTexts(cluster).length;
    cluster.inject(changesTopic, JSON.stringify(["ab", [uri, true], [uri, "12345678", true]]));
    await settle(20);
    expect([database.listeners, changeTexts(cluster).length]).toEqual([0, before + 1]);
  });

  it.each([
    "",
    "{",
    "null",
    "[]",
    "[1]",
    '["XYZ",["a",true]]',
    '["ab",1,null,{},[[]],[1,2,3],["a"],["a",1]]',
    '["ab",[null,true]]',
  ])("may be garbage of another program: %j", async (text) => {
    const { cluster, database, b } = two();
    const onB = vi.fn<() => void>();
    await b.watch(onB);
    cluster.inject(changesTopic, text);
    await settle(20);
    database.write(0, (db) => (db.stock = 1));
    await settle(20);
    expect(onB).toHaveBeenCalledTimes(1);
  });

  it("is nothing after the last watcher has left, and nothing is watched then", async () => {
    const { cluster, database, b } = two();
    const end = await b.watch(() => {});
    await settle(20);
    expect(database.listeners).toBe(2);
    end();
    await settle(20);
    expect(database.listeners).toBe(0);
    const before = cluster.texts.length;
    database.write(0, (db) => (db.stock = 1));
    await settle(20);
    expect(cluster.texts).toHaveLength(before);
  });

  it("ends with the replica, which tells the others", async () => {
    const { cluster, database, a, b } = two();
    const [onA, onB] = [vi.fn<() => void>(), vi.fn<() => void>()];
    await a.watch(onA);
    await b.watch(onB);
    await settle(20);
    await b.runtime.close();
    await settle(20);
    database.write(0, (db) => (db.stock = 1));
    await settle(20);
    expect([onA.mock.calls.length, onB.mock.calls.length]).toEqual([1, 0]);
    expect(cluster.texts.some(({ from, text }) => from === b.id && text.includes(`["${stockUri}",false]`))).toBe(true);
    await a.runtime.close();
    await settle(20);
    expect([database.listeners, cluster.listeners]).toEqual([0, 0]);
  });
});
