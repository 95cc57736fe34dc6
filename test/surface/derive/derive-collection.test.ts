import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../../src/errors.ts";
import type { CollectionClient } from "../../../src/surface/client.ts";
import { collection } from "../../../src/surface/collection.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { maxFiltered } from "../../../src/surface/derive/passing-keys.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { settle, take, until, WatchedSource } from "../support.ts";
import { createHang, openProjection, startMill } from "./support.ts";

const board = defineSurface("board", { heavy: collection({ key: z.string(), schema: z.number() }) });

function note<TValue>(values: AsyncIterable<TValue>): { readonly seen: TValue[]; readonly over: Promise<void> } {
  const seen: TValue[] = [];
  const run = async (): Promise<void> => {
    for await (const value of values) seen.push(value);
  };
  return { seen, over: run().catch(() => {}) };
}

/** A watch that says nothing for as long as it is not left. */
function hangs(): AsyncIterable<never> & AsyncIterator<never> {
  const over = createHang();
  const iterator = {
    next: () => over.hung.then(() => ({ done: true as const, value: undefined })),
    return: async () => {
      over.release();
      return { done: true as const, value: undefined };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

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

  it("leaves an item of upstream that has gone, while it watches the others", async () => {
    const sacks = new WatchedSource<ReadonlyMap<string, { kg: number }>>(
      new Map([
        ["a", { kg: 10 }],
        ["b", { kg: 10 }],
      ]),
    );
    const { client } = openBoard(({ kg }) => kg >= 10, { ...startMill(), live: startMill({ sacks }).live });
    const abort = new AbortController();
    const { seen, over } = note(client.heavy.watchKeys({ signal: abort.signal }));
    await until(() => seen.length === 1);
    expect(sacks.active).toBe(3);
    sacks.set(new Map([["b", { kg: 10 }]]));
    await until(() => sacks.active === 2);
    expect(seen.at(-1)).toEqual(["b"]);
    abort.abort();
    await over;
  });

  it("leaves the items of upstream with the last who watches filtered keys", async () => {
    const sacks = new WatchedSource<ReadonlyMap<string, { kg: number }>>(new Map([["a", { kg: 10 }]]));
    const { client } = openBoard(({ kg }) => kg >= 10, { ...startMill(), live: startMill({ sacks }).live });
    const abort = new AbortController();
    const { seen, over } = note(client.heavy.watchKeys({ signal: abort.signal }));
    await until(() => seen.length === 1);
    expect(sacks.active).toBe(2);
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

  it("keeps an item that has gone bad where it was, and the list stale, while the others go on", async () => {
    const { client, sacks, faults } = openBoard(({ kg }) => kg >= 10);
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    const bad = { kg: "x" } as never;
    sacks.set(
      new Map([
        ["b", { kg: 5 }],
        ["a", bad],
      ]),
    );
    await until(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ value: ["a"], stale: { reason: "invalid" } });
    sacks.set(
      new Map([
        ["b", { kg: 10 }],
        ["a", bad],
        ["c", { kg: 20 }],
      ]),
    );
    await until(() => seen.at(-1)?.value.length === 3);
    expect(seen.at(-1)).toMatchObject({
      value: ["b", "a", "c"],
      stale: { reason: "invalid", since: seen[1]?.stale?.since },
    });
    expect(await client.heavy.keysReading()).toEqual(seen.at(-1));
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

  it("leaves out an item that was never good, and lists the others as stale", async () => {
    const { client, sacks } = openBoard(({ kg }) => kg >= 10);
    sacks.set(
      new Map([
        ["bad", { kg: "x" } as never],
        ["a", { kg: 50 }],
      ]),
    );
    const stale = { reason: "invalid" };
    expect(await client.heavy.keysReading()).toMatchObject({ value: ["a"], stale });
    expect(await take(client.heavy.keysReadings(), 1)).toMatchObject([{ value: ["a"], stale }]);
  });

  it("tells the log once, and goes on with the others, when its filter throws at an item", async () => {
    const { client, sacks, faults } = openBoard(({ kg }) => {
      if (kg < 0) throw new Error("secret");
      return kg >= 10;
    });
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    sacks.set(
      new Map([
        ["a", { kg: -1 }],
        ["b", { kg: 10 }],
      ]),
    );
    await until(() => seen.at(-1)?.value.length === 2);
    sacks.set(
      new Map([
        ["a", { kg: -2 }],
        ["b", { kg: 10 }],
        ["c", { kg: 10 }],
      ]),
    );
    await until(() => seen.at(-1)?.value.length === 3);
    expect(seen.at(-1)).toMatchObject({ value: ["a", "b", "c"], stale: { reason: "invalid" } });
    expect(await client.heavy.keysReading()).toEqual(seen.at(-1));
    expect(faults).toHaveLength(1);
    sacks.set(new Map([["a", { kg: 30 }]]));
    await until(() => seen.at(-1)?.stale === undefined);
    expect(seen.at(-1)).toEqual({ value: ["a"] });
  });

  it("tells the log of a filter that throws when its keys are read and nobody watches them", async () => {
    const { client, faults } = openBoard(({ kg }) => {
      if (kg === 5) throw new Error("secret");
      return true;
    });
    expect(await client.heavy.keysReading()).toMatchObject({ value: ["a"], stale: { reason: "invalid" } });
    expect(await client.heavy.keys()).toEqual(["a"]);
    expect(faults).toHaveLength(1);
  });

  it("lists the others, stale, when the watch of an item says nothing as that has never been good", async () => {
    const { live, sacks } = startMill();
    const plain = defineSurface("plain", {
      sacks: collection({ key: z.string(), schema: z.object({ kg: z.number() }) }),
    });
    const middle = openProjection(live, plain, (up) => ({ sacks: derive.collection(up.sacks, (sack) => sack) }));
    sacks.set(
      new Map([
        ["bad", { kg: "x" } as never],
        ["a", { kg: 50 }],
      ]),
    );
    const { client } = openProjection(middle.live, board, (up) => ({
      heavy: derive.collection(up.sacks, ({ kg }) => kg, { filter: ({ kg }) => kg >= 10 }),
    }));
    const { seen } = note(client.heavy.keysReadings());
    await until(() => seen.length === 1);
    expect(seen).toMatchObject([{ value: ["a"], stale: { reason: "invalid" } }]);
    sacks.set(
      new Map([
        ["bad", { kg: 10 }],
        ["a", { kg: 50 }],
      ]),
    );
    await until(() => seen.length === 2);
    expect(seen[1]).toEqual({ value: ["bad", "a"] });
  });

  describe("filtering while an item hangs", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    /** Lets time pass until something holds. */
    async function pass(holds: () => boolean): Promise<void> {
      for (let turn = 0; turn < 300 && !holds(); turn += 1) {
        await vi.advanceTimersByTimeAsync(100);
        await settle();
      }
      expect(holds()).toBe(true);
    }

    /** A board of what an upstream gives whose reads and watches of items are as a test has it. */
    function openAbove(sacks: Partial<CollectionClient<string, string, { kg: number }>>, keys: readonly string[]) {
      const source = cellSource<ReadonlyMap<string, { kg: number }>>(new Map(keys.map((key) => [key, { kg: 50 }])));
      return openProjection(startMill({ sacks: source }).live, board, (up) => ({
        heavy: derive.collection({ ...up.sacks, ...sacks }, ({ kg }) => kg, { filter: ({ kg }) => kg >= 10 }),
      }));
    }

    it("reads and watches the keys of the others, stale, and tells the log once", async () => {
      const { hung, release } = createHang();
      const slow = z.object({ kg: z.number() }).refine(async ({ kg }) => {
        if (kg === 77) await hung;
        return true;
      });
      const surface = defineSurface("slow", { sacks: collection({ key: z.string(), schema: slow }) });
      const sacks = cellSource(
        new Map([
          ["a", { kg: 50 }],
          ["hangs", { kg: 77 }],
          ["b", { kg: 5 }],
          ["c", { kg: 60 }],
        ]),
      );
      const { client, faults } = openProjection(implementSurface(surface, { sacks }), board, (up) => ({
        heavy: derive.collection(up.sacks, ({ kg }) => kg, { filter: ({ kg }) => kg >= 10 }),
      }));
      const read: unknown[] = [];
      void client.heavy.keysReading().then((reading) => read.push(reading));
      await pass(() => read.length === 1);
      expect(read).toMatchObject([{ value: ["a", "c"], stale: { reason: "lost" } }]);
      const { seen } = note(client.heavy.keysReadings());
      await pass(() => seen.length === 1);
      expect(seen).toMatchObject([{ value: ["a", "c"], stale: { reason: "lost" } }]);
      expect(faults).toMatchObject([{ cause: { code: "TIMEOUT" } }]);
      release();
      await pass(() => seen.length === 2);
      expect(seen[1]).toEqual({ value: ["a", "hangs", "c"] });
    });

    it("reads an item again whose watch says nothing when its read hung the first time", async () => {
      let reads = 0;
      const { client } = openAbove(
        {
          readings: () => hangs(),
          reading: async () => ((reads += 1) === 1 ? new Promise(() => {}) : { value: { kg: 50 } }),
        },
        ["a"],
      );
      const { seen } = note(client.heavy.keysReadings());
      await pass(() => seen.length === 1);
      expect(seen[0]).toMatchObject({ value: [], stale: { reason: "lost" } });
      await pass(() => seen.length === 2);
      expect(seen[1]).toEqual({ value: ["a"] });
    });

    it("reads no more than 32 items at once when the watches of all of them say nothing", async () => {
      let running = 0;
      let most = 0;
      const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
      const reading = async (): Promise<{ value: { kg: number } }> => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 500));
        running -= 1;
        return { value: { kg: 50 } };
      };
      const { client } = openAbove({ readings: () => hangs(), reading }, keys);
      const { seen } = note(client.heavy.keysReadings());
      await pass(() => seen.length === 1);
      expect(seen[0]).toEqual({ value: keys });
      expect(most).toBe(32);
    });

    it("goes on looking, and tells of no fault, when there is too much to do to read an item", async () => {
      let reads = 0;
      const reading = async (): Promise<{ value: { kg: number } }> => {
        if ((reads += 1) <= 2) throw new SurfaceError("OVERFLOW", "hidden");
        return { value: { kg: 50 } };
      };
      const { client, faults } = openAbove({ readings: () => hangs(), reading }, ["a"]);
      const { seen } = note(client.heavy.keysReadings());
      await pass(() => seen.length === 1);
      expect(seen).toEqual([{ value: ["a"] }]);
      expect(reads).toBe(3);
      expect(faults).toEqual([]);
    });
  });
});
