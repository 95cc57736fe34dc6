import { describe, expect, it } from "vitest";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { settle } from "../surface/support.ts";
import { collect, describeCluster, expectAway } from "./contract.ts";
import { memoryHub, type MemoryHub } from "./memory-hub.ts";

async function join(hub: MemoryHub): Promise<Cluster> {
  const cluster = hub.join();
  const opened = cluster.open({ app: "app", report: () => {} });
  await opened.ready;
  atEndOfTest(() => opened.close());
  return cluster;
}

const hubs = { current: memoryHub() };

describeCluster("memory", () => {
  atEndOfTest(() => void (hubs.current = memoryHub()));
  return join(hubs.current);
});

describe("memoryHub()", () => {
  it("announces a gap to both sides when a replica was cut off and lost texts", async () => {
    const hub = memoryHub();
    const [a, b] = [await join(hub), await join(hub)];
    const [atA, atB] = [collect(a, "t"), collect(b, "t")];
    hub.cut(b.replica);
    await expectAway(b);
    a.bus.publish("t", "to b");
    b.bus.publish("t", "to a");
    await settle();
    expect([atA, atB, a.isAvailable, b.isAvailable]).toEqual([[], [], true, false]);
    hub.heal(b.replica);
    expect([atA, atB]).toEqual([["GAP"], ["GAP"]]);
    a.bus.publish("t", "again");
    await settle();
    expect(atB).toEqual(["GAP", "again"]);
  });

  it("announces a gap to all when the store was away or is emptied", async () => {
    const hub = memoryHub();
    const [a, b] = [await join(hub), await join(hub)];
    const received = collect(b, "t");
    await a.store.set("k", "v", 1000);
    hub.setAvailable(false);
    await expectAway(a);
    hub.setAvailable(true);
    expect(await b.store.get("k")).toBe("v");
    hub.clear();
    expect(await b.store.get("k")).toBeUndefined();
    expect(received).toEqual(["GAP", "GAP"]);
  });

  it("announces a gap before the next text or sign of life when texts are dropped", async () => {
    const hub = memoryHub();
    const [a, b] = [await join(hub), await join(hub)];
    const received = collect(b, "t");
    hub.drop(({ text, to }) => text === "lost" && to === b.replica);
    for (const text of ["lost", "next", "lost"]) a.bus.publish("t", text);
    await settle();
    hub.beat();
    hub.beat();
    expect(received).toEqual(["GAP", "next", "GAP"]);
  });

  it("says that a replica is not alive when it was killed, and refuses another app", async () => {
    const hub = memoryHub();
    const [a, b] = [await join(hub), await join(hub)];
    hub.kill(b.replica);
    expect(await a.isAlive(b.replica)).toBe(false);
    const other = hub.join().open({ app: "other", report: () => {} });
    await expect(other.ready).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  it("lets values expire by the clock that it is given when the clock moves", async () => {
    let now = 0;
    const { store } = await join(memoryHub(() => now));
    await store.set("k", "v", 1000);
    now = 999;
    expect(await store.get("k")).toBe("v");
    now = 1000;
    expect(await store.get("k")).toBeUndefined();
  });
});
