import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import type { Reading } from "../../../src/surface/reading.ts";
import { settle, take, until, WatchedSource } from "../support.ts";
import { createHang, note, openProjection, startMill } from "./support.ts";

const oneCell = defineSurface("board", { shown: cell({ schema: z.number() }) });

describe("derive.cell()", () => {
  it("gives what it makes of upstream's value, and of each change", async () => {
    const { live, speed } = startMill();
    const { client } = openProjection(live, oneCell, (up) => ({ shown: derive.cell(up.speed, (value) => value * 2) }));
    expect(await client.shown.get()).toBe(2);
    const { seen } = note(client.shown.watch());
    await until(() => seen.length === 1);
    speed.set(4);
    await until(() => seen.length === 2);
    expect(seen).toEqual([2, 8]);
  });

  it("waits with a first read until upstream has spoken", async () => {
    const { hung, release } = createHang();
    const { live } = startMill({
      speed: {
        async *[Symbol.asyncIterator]() {
          await hung;
          yield 7;
        },
      },
    });
    const { client } = openProjection(live, oneCell, (up) => ({ shown: derive.cell(up.speed, (value) => value) }));
    let isAnswered = false;
    const reading = client.shown.get().finally(() => (isAnswered = true));
    await settle();
    expect(isAnswered).toBe(false);
    release();
    expect(await reading).toBe(7);
  });

  it("opens nothing upstream for a read that nobody else is watching", async () => {
    const speed = new WatchedSource(3);
    const { live } = startMill({ speed });
    const { client } = openProjection(live, oneCell, (up) => ({ shown: derive.cell(up.speed, (value) => value) }));
    expect(await client.shown.get()).toBe(3);
    expect(speed.subscribed).toBe(0);
  });

  it("watches upstream once for all its readers, and leaves it with the last", async () => {
    const speed = new WatchedSource(3);
    const { live } = startMill({ speed });
    const { client } = openProjection(live, oneCell, (up) => ({ shown: derive.cell(up.speed, (value) => value) }));
    const abort = new AbortController();
    const one = note(client.shown.watch({ signal: abort.signal }));
    const other = note(client.shown.watch({ signal: abort.signal }));
    await until(() => one.seen.length + other.seen.length === 2);
    expect(speed.subscribed).toBe(1);
    abort.abort();
    await Promise.all([one.over, other.over]);
    await until(() => speed.active === 0);
  });

  it("waits for upstream's finally when its last reader leaves", async () => {
    const { hung, release } = createHang();
    let isOver = false;
    const { live } = startMill();
    const text = defineSurface("board", { shown: cell({ schema: z.string() }) });
    // A client by hand, so that its iteration is the author's generator itself.
    async function* frames(signal?: AbortSignal): AsyncGenerator<string> {
      try {
        yield "brr";
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
      } finally {
        await hung;
        isOver = true;
      }
    }
    const { client } = openProjection(live, text, () => ({
      shown: derive.cell({ latest: async () => "brr", open: (_input, use) => frames(use?.signal) }, (frame) => frame),
    }));
    const watched = client.shown.watch()[Symbol.asyncIterator]();
    expect(await watched.next()).toEqual({ done: false, value: "brr" });
    let isLeft = false;
    const leaving = watched.return?.().then(() => (isLeft = true));
    await settle();
    expect(isLeft).toBe(false);
    release();
    await leaving;
    expect(isOver).toBe(true);
  });

  it("shows the value before in the place of one that its filter refuses", async () => {
    const { live, speed } = startMill();
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => value, { filter: (value) => value < 10 }),
    }));
    const { seen } = note(client.shown.watch());
    await until(() => seen.length === 1);
    speed.set(11);
    await settle();
    expect(await client.shown.get()).toBe(1);
    speed.set(9);
    await until(() => seen.length === 2);
    expect(seen).toEqual([1, 9]);
  });

  it("waits with a read for a value that its filter lets through", async () => {
    const { live, speed } = startMill();
    speed.set(11);
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => value, { filter: (value) => value < 10 }),
    }));
    const reading = client.shown.get();
    await settle();
    speed.set(2);
    expect(await reading).toBe(2);
  });

  it("makes one value of several cells, once each of them has one", async () => {
    const { hung, release } = createHang();
    const { live, speed } = startMill({
      load: {
        async *[Symbol.asyncIterator]() {
          await hung;
          yield 5;
          await new Promise(() => {});
        },
      },
    });
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell([up.speed, up.load], ([a, b]) => a * 100 + b),
    }));
    const { seen } = note(client.shown.watch());
    speed.set(2);
    await settle();
    expect(seen).toEqual([]);
    release();
    await until(() => seen.length > 0);
    speed.set(3);
    await until(() => seen.at(-1) === 305);
    expect(seen[0]).toBe(205);
    expect(await client.shown.get()).toBe(305);
  });

  it("waits for the finally of each of several when its last reader leaves", async () => {
    const { live } = startMill();
    const { hung, release } = createHang();
    async function* readings(use: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Reading<number>> {
      try {
        yield { value: 1 };
        await new Promise<void>((resolve) => use.signal?.addEventListener("abort", () => resolve(), { once: true }));
      } finally {
        await hung;
      }
    }
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell([up.speed, { ...up.load, readings }], ([a, b]) => a + b),
    }));
    const watched = client.shown.watch()[Symbol.asyncIterator]();
    expect(await watched.next()).toEqual({ done: false, value: 2 });
    let isLeft = false;
    const leaving = watched.return?.().then(() => (isLeft = true));
    await settle();
    expect(isLeft).toBe(false);
    release();
    await leaving;
  });

  it("follows a stream without input", async () => {
    const { live } = startMill();
    const text = defineSurface("board", { shown: cell({ schema: z.string() }) });
    const { client } = openProjection(live, text, (up) => ({
      shown: derive.cell(up.noise, (noise) => noise.toUpperCase()),
    }));
    expect(await client.shown.get()).toBe("BRR");
    expect(await take(client.shown.watch(), 1)).toEqual(["BRR"]);
  });

  it("tells what its watch knows of a stream, where the newest frame of another iteration is long in coming", async () => {
    const { live, speed } = startMill();
    for (const isOfTwo of [false, true]) {
      const frames = {
        latest: () => new Promise<never>(() => {}),
        async *open(_input: undefined, use?: { readonly signal?: AbortSignal }) {
          yield 5;
          await new Promise<void>((resolve) => use?.signal?.addEventListener("abort", () => resolve(), { once: true }));
        },
      };
      const { client } = openProjection(live, oneCell, (up) => ({
        shown: isOfTwo ? derive.cell([up.speed, frames], ([a, b]) => a * b) : derive.cell(frames, (value) => value),
      }));
      const { seen } = note(client.shown.watch());
      await until(() => seen.length === 1);
      expect(await client.shown.get()).toBe(5 * (isOfTwo ? speed.get() : 1));
    }
  });

  it("tells what its reader has done upstream, at once, while it is watched", async () => {
    const { live, speed } = startMill();
    const { client } = openProjection(live, oneCell, (up) => ({ shown: derive.cell(up.speed, (value) => value * 2) }));
    const { seen } = note(client.shown.watch());
    await until(() => seen.length === 1);
    for (let value = 2; value < 20; value += 1) {
      speed.set(value);
      expect(await client.shown.reading()).toEqual({ value: value * 2 });
    }
    await until(() => seen.at(-1) === 38);
  });

  it("stands, marked as stale, when what map makes does not fit its schema, and is right again with the next", async () => {
    const { live, speed } = startMill();
    const { client, faults } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => (value === 2 ? ("two" as never) : value)),
    }));
    const { seen } = note(client.shown.readings());
    await until(() => seen.length === 1);
    speed.set(2);
    await until(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ value: 1, stale: { reason: "invalid" } });
    expect(faults).toHaveLength(1);
    speed.set(3);
    await until(() => seen.length === 3);
    expect(seen[2]).toEqual({ value: 3 });
  });

  it("stands, marked as stale, when map throws: reported once, and right again with the next value", async () => {
    const speed = new WatchedSource(1);
    const { live } = startMill({ speed });
    const { client, faults } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => {
        if (value < 0) throw new Error("secret");
        return value;
      }),
    }));
    const { seen } = note(client.shown.readings());
    await until(() => seen.length === 1);
    speed.set(-1);
    await until(() => seen.length === 2);
    speed.set(-2);
    await settle();
    expect(seen[1]).toMatchObject({ value: 1, stale: { reason: "invalid" } });
    speed.set(3);
    await until(() => seen.at(-1)?.value === 3);
    expect(seen.at(-1)).toEqual({ value: 3 });
    expect(faults).toHaveLength(1);
    // The iteration of upstream went on.
    expect(speed.subscribed).toBe(1);
  });

  it("fails masked when map throws and there is no value yet", async () => {
    const { live } = startMill();
    const { client, faults } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, () => {
        throw new Error("secret");
      }),
    }));
    const failure = await client.shown.get().then(
      () => undefined,
      (cause: unknown) => cause as Error,
    );
    expect(failure).toMatchObject({ code: expect.stringMatching(/^(INVALID_OUTPUT|INTERNAL)$/) });
    expect(failure?.message).not.toContain("secret");
    expect(faults.length).toBeGreaterThan(0);
  });

  it("goes stale with upstream and comes back with it", async () => {
    const { live } = startMill();
    let give: (reading: Reading<number>) => void = () => {};
    async function* readings(): AsyncGenerator<Reading<number>> {
      yield { value: 1 };
      for (;;) yield await new Promise<Reading<number>>((resolve) => (give = resolve));
    }
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell({ ...up.speed, readings, reading: async () => ({ value: 1 }) }, (value) => value * 2),
    }));
    const { seen } = note(client.shown.readings());
    await until(() => seen.length === 1);
    const stale = { reason: "lost", since: "2026-01-01T00:00:00.000Z" } as const;
    give({ value: 1, stale });
    await until(() => seen.length === 2);
    give({ value: 1 });
    await until(() => seen.length === 3);
    expect(seen).toEqual([{ value: 2 }, { value: 2, stale }, { value: 2 }]);
  });

  it("stands as lost when upstream is closed, and fails where there never was a value", async () => {
    const { live } = startMill();
    const two = defineSurface("board", { shown: cell({ schema: z.number() }), other: cell({ schema: z.number() }) });
    const { client } = openProjection(live, two, (up) => ({
      shown: derive.cell(up.speed, (value) => value),
      other: derive.cell(up.load, (value) => value),
    }));
    const { seen } = note(client.shown.readings());
    await until(() => seen.length === 1);
    await live.close();
    await until(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ value: 1, stale: { reason: "lost" } });
    await expect(client.other.get()).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("closes while upstream hangs", async () => {
    const { live: upstream } = startMill({
      speed: {
        async *[Symbol.asyncIterator]() {
          await new Promise(() => {});
          yield 1;
        },
      },
    });
    const { live, client } = openProjection(upstream, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => value),
    }));
    const { over } = note(client.shown.watch());
    const reading = client.shown.get().catch((cause: unknown) => cause);
    await settle();
    const late = new Promise((resolve) => setTimeout(resolve, 5000, "late").unref());
    expect(await Promise.race([live.close(), late])).toBeUndefined();
    expect(await reading).toMatchObject({ code: "CLOSED" });
    await over;
  });

  it("reads and watches stand on the value before while upstream's does not pass, also after a rest", async () => {
    const { live, speed } = startMill();
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell(up.speed, (value) => value, { filter: (value) => value < 10 }),
    }));
    expect(await client.shown.get()).toBe(1);
    speed.set(11);
    expect(await client.shown.reading()).toEqual({ value: 1 });
    expect(await take(client.shown.readings(), 1)).toEqual([{ value: 1 }]);
    const { seen } = note(client.shown.readings());
    await until(() => seen.length === 1);
    speed.set(2);
    await until(() => seen.length === 2);
    expect(seen).toEqual([{ value: 1 }, { value: 2 }]);
  });

  it("the value before is stale with upstream while that does not pass", async () => {
    const { live } = startMill();
    const stale = { reason: "lost", since: "2026-01-01T00:00:00.000Z" } as const;
    const answers: Reading<number>[] = [{ value: 1 }, { value: 11, stale }, { value: 11 }];
    const reading = async (): Promise<Reading<number>> => answers.shift() ?? { value: 0 };
    const { client } = openProjection(live, oneCell, (up) => ({
      shown: derive.cell({ ...up.speed, reading }, (value) => value, { filter: (value) => value < 10 }),
    }));
    expect(await client.shown.reading()).toEqual({ value: 1 });
    expect(await client.shown.reading()).toEqual({ value: 1, stale });
    expect(await client.shown.reading()).toEqual({ value: 1 });
  });

  it("refuses to be made of an empty list", () => {
    const { live } = startMill();
    const open = () => openProjection(live, oneCell, () => ({ shown: derive.cell([] as never, () => 1) }));
    expect(open).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
