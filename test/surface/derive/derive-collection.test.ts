import { describe, expect, it } from "vitest";
import * as z from "zod";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { maxFiltered } from "../../../src/surface/derive/derive-collection.ts";
import { settle, take, until, WatchedSource } from "../support.ts";
import { note, openProjection, startMill } from "./support.ts";

const board = defineSurface("board", { heavy: collection({ key: z.string(), schema: z.number() }) });

function openBoard(filter?: (sack: { kg: number }) => boolean, source = startMill()) {
  const opened = openProjection(source.live, board, (up) => ({
    heavy: derive.collection(up.sacks, ({ kg }) => kg, filter === undefined ? {} : { filter }),
  }));
  return { ...source, ...opened, upstream: source.live };
}

describe("derive.collection()", () => {
  it("lists upstream's keys in their order, and gives what it makes of each item", async () => {
    const { client } = openBoard();
    expect(await client.heavy.keys()).toEqual(["b", "a"]);
    expect(await client.heavy.get("a")).toBe(50);
    expect(await client.heavy.get("none")).toBeUndefined();
  });

  it("tells of each change of the keys and of an item, and of nothing else", async () => {
    const { client, sacks } = openBoard();
    const keys = note(client.heavy.watchKeys());
    const item = note(client.heavy.watch("a"));
    await until(() => keys.seen.length === 1 && item.seen.length === 1);
    sacks.set(new Map([["a", { kg: 60 }]]));
    await until(() => keys.seen.length === 2 && item.seen.length === 2);
    sacks.set(new Map());
    await until(() => keys.seen.length === 3 && item.seen.length === 3);
    expect(keys.seen).toEqual([["b", "a"], ["a"], []]);
    expect(item.seen).toEqual([50, 60, undefined]);
  });

  it.each(["without a filter", "with a filter"])(
    "tells what its reader has done upstream, at once, %s",
    async (how) => {
      const { client, sacks } = openBoard(how === "with a filter" ? ({ kg }) => kg > 0 : undefined);
      const keys = note(client.heavy.watchKeys());
      const item = note(client.heavy.watch("a"));
      await until(() => keys.seen.length === 1 && item.seen.length === 1);
      for (let kg = 1; kg < 10; kg += 1) {
        sacks.set(new Map(["a", `n${kg}`].map((key) => [key, { kg }])));
        expect(await client.heavy.keys()).toEqual(["a", `n${kg}`]);
        sacks.set(new Map([["a", { kg: kg + 100 }]]));
        expect(await client.heavy.get("a")).toBe(kg + 100);
      }
      await until(() => item.seen.at(-1) === 109);
    },
  );

  it("watches nothing upstream that nobody watches here", async () => {
    const sacks = new WatchedSource<ReadonlyMap<string, { kg: number }>>(new Map([["a", { kg: 1 }]]));
    const { client } = openBoard(undefined, { ...startMill(), live: startMill({ sacks }).live });
    await client.heavy.keys();
    await client.heavy.get("a");
    expect(sacks.subscribed).toBe(0);
    const abort = new AbortController();
    const one = note(client.heavy.watch("a", { signal: abort.signal }));
    const other = note(client.heavy.watch("a", { signal: abort.signal }));
    await until(() => one.seen.length + other.seen.length === 2);
    expect(sacks.subscribed).toBe(1);
    abort.abort();
    await Promise.all([one.over, other.over]);
    await until(() => sacks.active === 0);
  });

  it("lists and gives only what its filter lets through", async () => {
    const { client, sacks } = openBoard(({ kg }) => kg >= 10);
    expect(await client.heavy.keys()).toEqual(["a"]);
    expect(await client.heavy.get("b")).toBeUndefined();
    const keys = note(client.heavy.watchKeys());
    const item = note(client.heavy.watch("b"));
    await until(() => keys.seen.length === 1 && item.seen.length === 1);
    sacks.set(
      new Map([
        ["b", { kg: 10 }],
        ["a", { kg: 50 }],
        ["c", { kg: 1 }],
      ]),
    );
    await until(() => keys.seen.length === 2 && item.seen.length === 2);
    expect(keys.seen).toEqual([["a"], ["b", "a"]]);
    expect(item.seen).toEqual([undefined, 10]);
  });

  it("leaves the items of upstream with the last who watches filtered keys", async () => {
    const sacks = new WatchedSource<ReadonlyMap<string, { kg: number }>>(new Map([["a", { kg: 10 }]]));
    const { client } = openBoard(({ kg }) => kg >= 10, { ...startMill(), live: startMill({ sacks }).live });
    const abort = new AbortController();
    const { seen, over } = note(client.heavy.watchKeys({ signal: abort.signal }));
    await until(() => seen.length === 1);
    expect(sacks.active).toBe(1);
    abort.abort();
    await over;
    await until(() => sacks.active === 0);
  });

  it("refuses to filter more items than it may look at", async () => {
    const { client, sacks } = openBoard(({ kg }) => kg > 0);
    sacks.set(new Map(Array.from({ length: maxFiltered + 1 }, (_, index) => [`k${index}`, { kg: 1 }])));
    await expect(client.heavy.keys()).rejects.toMatchObject({ code: "OVERFLOW" });
    sacks.set(new Map([["one", { kg: 1 }]]));
    expect(await client.heavy.keys()).toEqual(["one"]);
  });

  it("refuses a key that does not fit, and an item that its schema refuses", async () => {
    const { client } = openBoard();
    await expect(client.heavy.get(3 as never)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const { live } = startMill();
    const bad = openProjection(live, board, (up) => ({ heavy: derive.collection(up.sacks, () => "heavy" as never) }));
    await expect(bad.client.heavy.get("a")).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    expect(bad.faults).toHaveLength(1);
  });

  it("stands as it was, marked as stale, when upstream is closed", async () => {
    const { client, upstream } = openBoard();
    const keys = note(client.heavy.keysReadings());
    const item = note(client.heavy.readings("a"));
    await until(() => keys.seen.length === 1 && item.seen.length === 1);
    await upstream.close();
    await until(() => keys.seen.length === 2 && item.seen.length === 2);
    expect(keys.seen[1]).toMatchObject({ value: ["b", "a"], stale: { reason: "lost" } });
    expect(item.seen[1]).toMatchObject({ value: 50, stale: { reason: "lost" } });
    await expect(take(client.heavy.watchKeys(), 1)).resolves.toEqual([["b", "a"]]);
    await settle();
  });

  it("keeps the list as it was, stale, while an item does not fit, and goes on when all do", async () => {
    const { client, sacks, faults } = openBoard(({ kg }) => kg >= 10);
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    sacks.set(
      new Map([
        ["b", { kg: 10 }],
        ["a", { kg: "x" } as never],
      ]),
    );
    await until(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ value: ["a"], stale: { reason: "invalid" } });
    expect(await client.heavy.keysReading()).toMatchObject({ value: ["a"], stale: { reason: "invalid" } });
    sacks.set(
      new Map([
        ["b", { kg: 10 }],
        ["a", { kg: 1 }],
      ]),
    );
    await until(() => seen.at(-1)?.stale === undefined);
    expect(seen.at(-1)).toEqual({ value: ["b"] });
    // What upstream refused it has told its own log.
    expect(faults).toEqual([]);
  });

  it("fails while an item does not fit and there was no list before", async () => {
    const { client, sacks } = openBoard(({ kg }) => kg >= 10);
    sacks.set(new Map([["bad", { kg: "x" } as never]]));
    await expect(client.heavy.keysReading()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    sacks.set(new Map([["a", { kg: 50 }]]));
    expect(await client.heavy.keysReading()).toEqual({ value: ["a"] });
  });

  it("keeps the list as it was, stale, and tells the log once, while its filter throws", async () => {
    const { client, sacks, faults } = openBoard(({ kg }) => {
      if (kg < 0) throw new Error("secret");
      return kg >= 10;
    });
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    for (const kg of [-1, -2]) {
      sacks.set(
        new Map([
          ["a", { kg }],
          ["b", { kg: 10 }],
        ]),
      );
      await settle();
    }
    expect(seen.at(-1)).toMatchObject({ value: ["a"], stale: { reason: "invalid" } });
    expect(faults).toHaveLength(1);
    sacks.set(new Map([["b", { kg: 30 }]]));
    await until(() => seen.at(-1)?.stale === undefined);
    expect(seen.at(-1)).toEqual({ value: ["b"] });
  });

  it("is as stale as the keys of upstream", async () => {
    const { live } = startMill();
    const plain = defineSurface("plain", {
      sacks: collection({ key: z.string(), schema: z.object({ kg: z.number() }) }),
    });
    const middle = openProjection(live, plain, (up) => ({ sacks: derive.collection(up.sacks, (sack) => sack) }));
    const { client } = openProjection(middle.live, board, (up) => ({
      heavy: derive.collection(up.sacks, ({ kg }) => kg, { filter: ({ kg }) => kg >= 10 }),
    }));
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    expect(seen).toEqual([{ value: ["a"] }]);
    await live.close();
    await until(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ value: ["a"], stale: { reason: "lost" } });
  });

  it("is as stale as an item of upstream", async () => {
    const { client: middle, live, sacks } = openBoard();
    const { client } = openProjection(live, board, (up) => ({
      heavy: derive.collection(up.heavy, (kg) => kg, { filter: (kg) => kg >= 10 }),
    }));
    expect(await client.heavy.keysReading()).toEqual({ value: ["a"] });
    sacks.set(new Map([["a", { kg: "x" } as never]]));
    const { stale } = await middle.heavy.reading("a");
    expect(stale).toMatchObject({ reason: "invalid" });
    expect(await client.heavy.keysReading()).toEqual({ value: ["a"], stale });
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    expect(seen).toEqual([{ value: ["a"], stale }]);
  });
});
