import { describe, expect, it } from "vitest";
import { settle, take, until } from "../../surface/support.ts";
import { day, makeTreasure } from "../support/rich-surface.ts";
import { connectRich } from "./support.ts";
import { operationsOf } from "../../surface/uses-of.ts";

describe("a client over a wire", () => {
  it("reads a cell with values that JSON does not have", async () => {
    const { client, live } = await connectRich();
    expect(await client.chest.get()).toEqual(makeTreasure());
    expect(await client.maybe.get()).toBeUndefined();
    await live.close();
  });

  it("watches a cell, skips to the newest, and leaves", async () => {
    const { client, chest, live } = await connectRich();
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    expect((await watch.next()).value).toEqual(makeTreasure());
    for (let size = 2n; size <= 50n; size += 1n) chest.set(makeTreasure(size));
    await settle(6);
    const seen = (await watch.next()).value;
    const next = seen.size === 50n ? seen : (await watch.next()).value;
    expect(next.size).toBe(50n);
    await watch.return?.();
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    await live.close();
  });

  it("reads and watches the keys and items of a collection", async () => {
    const { client, places, live } = await connectRich();
    expect(await client.places.keys()).toEqual([{ row: 1 }]);
    expect(await client.places.get({ row: 1 })).toEqual(makeTreasure());
    expect(await client.places.get({ row: 2, name: "two" })).toBeUndefined();
    const keys = client.places.watchKeys()[Symbol.asyncIterator]();
    const item = client.places.watch({ row: 2 })[Symbol.asyncIterator]();
    expect((await keys.next()).value).toEqual([{ row: 1 }]);
    expect(await item.next()).toEqual({ done: false, value: undefined });
    places.set(new Map([[2, makeTreasure(7n)]]));
    expect((await keys.next()).value).toEqual([{ row: 2 }]);
    expect((await item.next()).value).toEqual(makeTreasure(7n));
    await live.close();
  });

  it("opens a stream with an input, in order and to its end, and reads its newest frame", async () => {
    const { client, live } = await connectRich();
    expect(await take(client.clock.open({ from: 5n }), 9)).toEqual([5, 6, 7].map((at) => new Date(at)));
    expect(await client.clock.latest({ from: 5n })).toBeInstanceOf(Date);
    await live.close();
  });

  it("waits for an event, sees what is kept, and goes on from a cursor", async () => {
    const { client, state, live } = await connectRich();
    const waiting = client.rang.wait();
    await settle();
    state.ring(new Set([1]));
    const first = await waiting;
    expect(first).toEqual({ status: "fired", cursor: expect.any(String), occurrence: new Set([1]) });
    state.ring(new Set([2]));
    expect(await client.rang.wait(undefined, { since: first.cursor })).toMatchObject({ occurrence: new Set([2]) });
    expect((await client.rang.recent()).occurrences).toEqual([new Set([1]), new Set([2])]);
    const late = await client.rang.wait(undefined, { since: "nobody's" });
    expect(late).toMatchObject({ status: "timed_out", reset: true });
    const last = (await client.rang.recent()).cursor;
    expect(await client.rang.wait(undefined, { since: last, timeoutMs: 1 })).toEqual({
      status: "timed_out",
      cursor: last,
    });
    await live.close();
  });

  it("watches the newest frame and the kept occurrences", async () => {
    const { channel, state, live } = await connectRich();
    const frames = operationsOf(channel).watchLatest("clock", { from: 1n }, {})[Symbol.asyncIterator]();
    await until(() => true);
    const first = await frames.next();
    const newest = (first.value as unknown[]).length === 0 ? await frames.next() : first;
    expect((newest.value as unknown[])[0]).toBeInstanceOf(Date);
    const pages = operationsOf(channel).watchRecent("rang", undefined, {})[Symbol.asyncIterator]();
    expect((await pages.next()).value).toMatchObject({ occurrences: [] });
    state.ring(new Set([3]));
    expect((await pages.next()).value).toMatchObject({ occurrences: [new Set([3])] });
    await live.close();
  });

  it("calls a procedure with progress before the answer, and one without schemas", async () => {
    const { client, live } = await connectRich();
    const told: Date[] = [];
    const buried = await client.bury.call({ at: day, how: "well" }, { onProgress: ({ at }) => void told.push(at) });
    expect(buried).toEqual(makeTreasure());
    expect(told).toEqual([day, new Date(day.getTime() + 1)]);
    expect(await client.plain.call()).toBeUndefined();
    for (const value of [null, 1, "x", [1, { a: null }], { value: 1 }, {}])
      expect(await client.echo.call(value)).toEqual(value);
    await live.close();
  });

  it("drops what a listener of progress throws or rejects with", async () => {
    const { client, live } = await connectRich();
    const thrown = client.bury.call(
      { at: day, how: "well" },
      {
        onProgress: () => {
          throw new Error("listener");
        },
      },
    );
    expect(await thrown).toEqual(makeTreasure());
    const onProgress = (() => Promise.reject(new Error("listener"))) as () => void;
    expect(await client.bury.call({ at: day, how: "well" }, { onProgress })).toEqual(makeTreasure());
    await live.close();
  });

  it("carries 500 uses at once, each with its own answer", async () => {
    const { client, live } = await connectRich();
    const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => client.echo.call({ index })));
    expect(answers).toEqual(Array.from({ length: 500 }, (_, index) => ({ index })));
    await live.close();
  });
});
