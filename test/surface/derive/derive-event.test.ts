import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../../src/errors.ts";
import type { CellClient, EventClient, EventPage, EventWait } from "../../../src/surface/client.ts";
import { surfaceClientRef, implementProjection, projectSurface } from "../../../src/surface/project-surface.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { event } from "../../../src/surface/define-members.ts";
import type { Reading } from "../../../src/surface/reading.ts";
import { settle, until } from "../support.ts";
import { createHang, mill, openProjection, startMill } from "./support.ts";
import { operationsOf } from "../uses-of.ts";

const board = defineSurface("board", { ground: event({ output: z.number() }) });

/** What is kept of an event, once so much of it is. */
async function kept(client: { recent(): Promise<EventPage<number>> }, count: number): Promise<readonly number[]> {
  let page = await client.recent();
  const deadline = performance.now() + 10_000;
  while (page.occurrences.length < count && performance.now() < deadline) {
    await settle(1);
    page = await client.recent();
  }
  return page.occurrences;
}

/** An event whose occurrences a test makes. */
function createBell() {
  const waiting: (() => void)[] = [];
  const queue: number[] = [];
  const ring = (value: number): void => {
    queue.push(value);
    for (const wake of waiting.splice(0)) wake();
  };
  async function* handler(_input: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<number> {
    while (!signal.aborted) {
      while (queue.length > 0) yield queue.shift() ?? 0;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
  return { ring, handler };
}

describe("derive.event() of an event", () => {
  it("begins with what is kept upstream, and goes on with what happens", async () => {
    const bell = createBell();
    bell.ring(1);
    bell.ring(2);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const { client } = openProjection(live, board, (up) => ({ ground: derive.event(up.ground, (n) => n * 10) }));
    expect(await kept(client.ground, 2)).toEqual([10, 20]);
    const waiting = client.ground.wait(undefined, { timeoutMs: 10_000 });
    await settle();
    bell.ring(3);
    expect(await waiting).toMatchObject({ status: "fired", occurrence: 30 });
  });

  it("leaves out what its filter refuses", async () => {
    const bell = createBell();
    for (const n of [1, 2, 3, 4]) bell.ring(n);
    const { live } = startMill({ ground: bell.handler });
    const { client } = openProjection(live, board, (up) => ({
      ground: derive.event(up.ground, (n) => n, { filter: (n) => n % 2 === 0 }),
    }));
    expect(await kept(client.ground, 2)).toEqual([2, 4]);
  });

  it("leaves one out that map throws at, reports it, and tells none of the others twice", async () => {
    const bell = createBell();
    for (const n of [1, 2, 3]) bell.ring(n);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const { client, faults } = openProjection(live, board, (up) => ({
      ground: derive.event(up.ground, (n) => {
        if (n === 2) throw new Error("secret");
        return n;
      }),
    }));
    expect(await kept(client.ground, 2)).toEqual([1, 3]);
    expect(faults).toHaveLength(1);
    bell.ring(4);
    expect(await kept(client.ground, 3)).toEqual([1, 3, 4]);
  });

  it("leaves one out that does not fit its schema", async () => {
    const bell = createBell();
    for (const n of [1, 2, 3]) bell.ring(n);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const { client } = openProjection(live, board, (up) => ({
      ground: derive.event(up.ground, (n) => (n === 1 ? ("one" as never) : n)),
    }));
    expect(await kept(client.ground, 2)).toEqual([2, 3]);
  });

  it("answers nobody before it has heard upstream, and keeps what was kept there as what has happened before", async () => {
    const bell = createBell();
    bell.ring(1);
    bell.ring(2);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const open = () => openProjection(live, board, (up) => ({ ground: derive.event(up.ground, (n) => n) })).client;
    expect((await open().ground.recent()).occurrences).toEqual([1, 2]);
    expect(await open().ground.wait(undefined, { timeoutMs: 50 })).toMatchObject({ status: "timed_out" });
    const client = open();
    const { cursor } = await client.ground.recent();
    bell.ring(3);
    expect(await client.ground.wait(undefined, { since: cursor })).toEqual({
      status: "fired",
      cursor: expect.any(String),
      occurrence: 3,
    });
  });

  it("shows its first page only when it has heard upstream", async () => {
    const bell = createBell();
    bell.ring(1);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const projection = projectSurface(mill, board, (up) => ({ ground: derive.event(up.ground, (n) => n) }));
    const opened = implementProjection(projection, surfaceClientRef(live));
    for await (const page of operationsOf(surfaceClientRef(opened).channel).watchRecent("ground", undefined, {})) {
      expect(page.occurrences).toEqual([1]);
      break;
    }
    await opened.close();
  });

  it("does so for each input of its own, and when a handler by hand goes on with it", async () => {
    const upstream: EventClient<undefined, number> = {
      recent: async () => settle(20).then(() => ({ cursor: "a.1", occurrences: [1] })),
      wait: (_input, use) =>
        new Promise((_resolve, reject) => use?.signal?.addEventListener("abort", () => reject(use.signal?.reason))),
    };
    const by = defineSurface("board", {
      own: event({ input: z.number(), output: z.number() }),
      hand: event({ input: z.number(), output: z.number() }),
    });
    const { live } = startMill();
    const { client } = openProjection(live, by, () => {
      const own = derive.event(upstream, (n) => n, { input: (_n: number) => undefined });
      return {
        own,
        async *hand(input, context) {
          yield* own(input, context);
        },
      };
    });
    expect(await client.own.wait(1, { timeoutMs: 50 })).toMatchObject({ status: "timed_out" });
    expect((await client.own.recent(2)).occurrences).toEqual([1]);
    expect((await client.hand.recent(1)).occurrences).toEqual([1]);
  });

  it("replays what was kept upstream when it is told to replay the last", async () => {
    const bell = createBell();
    bell.ring(1);
    bell.ring(2);
    const { live } = startMill({ ground: bell.handler });
    await settle();
    const replaying = defineSurface("board", { ground: event({ output: z.number(), replayLast: true }) });
    const { client } = openProjection(live, replaying, (up) => ({ ground: derive.event(up.ground, (n) => n) }));
    expect(await client.ground.wait()).toMatchObject({ status: "fired", occurrence: 2 });
  });

  it("answers UNAVAILABLE, and not that nothing is kept, until upstream has been reached once", async () => {
    let isThere = false;
    const upstream: EventClient<undefined, number> = {
      recent: async () => {
        if (!isThere) throw new SurfaceError("UNAVAILABLE", "hidden");
        return { cursor: "a.1", occurrences: [1] };
      },
      wait: async () => {
        throw new SurfaceError("UNAVAILABLE", "hidden");
      },
    };
    const { live } = startMill();
    const { client } = openProjection(live, board, () => ({ ground: derive.event(upstream, (n) => n) }));
    await expect(client.ground.recent()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(client.ground.wait(undefined, { timeoutMs: 50 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    isThere = true;
    expect((await client.ground.recent()).occurrences).toEqual([1]);
    // What it has heard stands while upstream is away again.
    expect((await client.ground.recent()).occurrences).toEqual([1]);
  });

  it("ends who asks, while upstream does not answer, with the caller or with the surface", async () => {
    const hang = createHang();
    const upstream: EventClient<undefined, number> = {
      recent: async () => hang.hung.then(() => ({ cursor: "a.0", occurrences: [] })),
      wait: async () => ({ status: "timed_out", cursor: "a.0" }),
    };
    const { live } = startMill();
    const opened = openProjection(live, board, () => ({ ground: derive.event(upstream, (n) => n) }));
    const abort = new AbortController();
    const asking = opened.client.ground.recent(undefined, { signal: abort.signal });
    const waiting = opened.client.ground.wait();
    await settle();
    abort.abort();
    await expect(asking).rejects.toMatchObject({ code: "ABORTED" });
    const closing = opened.live.close();
    await expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
    hang.release();
    await closing;
  });

  it("counts what upstream has lost for those who wait here", async () => {
    const gate = createHang();
    const { live } = startMill({
      async *ground(_input, { signal }) {
        await gate.hung;
        for (let n = 1; n <= 200; n += 1) yield n;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    });
    const { client } = openProjection(live, board, (up) => ({ ground: derive.event(up.ground, (n) => n) }));
    const { cursor: since } = await client.ground.recent();
    await settle();
    gate.release();
    await kept(client.ground, 64);
    const first = await client.ground.wait(undefined, { since });
    expect(first).toMatchObject({ status: "fired", occurrence: 137, missed: 136, reset: true });
    const second = await client.ground.wait(undefined, { since: first.cursor });
    expect(second).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 138 });
  });

  it("says that it was reset when upstream was, and keeps a loss for the next occurrence that passes its filter", async () => {
    const gate = createHang();
    const answers: EventWait<number>[] = [
      { status: "timed_out", cursor: "b.0", reset: true },
      { status: "fired", cursor: "b.1", occurrence: 1 },
      { status: "fired", cursor: "b.5", occurrence: -5, missed: 3, reset: true },
      { status: "fired", cursor: "b.8", occurrence: 8, missed: 2, reset: true },
    ];
    const upstream: EventClient<undefined, number> = {
      recent: async () => ({ cursor: "a.0", occurrences: [] }),
      wait: async (_input, use) => {
        await gate.hung;
        const answer = answers.shift();
        if (answer !== undefined) return answer;
        return new Promise((_resolve, reject) =>
          use?.signal?.addEventListener("abort", () => reject(use.signal?.reason)),
        );
      },
    };
    const { live } = startMill();
    const { client } = openProjection(live, board, () => ({
      ground: derive.event(upstream, (n) => n, { filter: (n) => n > 0 }),
    }));
    const { cursor: since } = await client.ground.recent();
    gate.release();
    const first = await client.ground.wait(undefined, { since });
    expect(first).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 1, reset: true });
    const second = await client.ground.wait(undefined, { since: first.cursor });
    expect(second).toMatchObject({ status: "fired", occurrence: 8, missed: 5, reset: true });
  });

  it("goes on after a reset with what is kept by then, and repeats nothing", async () => {
    const answers: EventWait<number>[] = [
      { status: "fired", cursor: "a.2", occurrence: 2 },
      { status: "timed_out", cursor: "b.0", reset: true },
      { status: "fired", cursor: "b.1", occurrence: 3 },
      { status: "fired", cursor: "b.9", occurrence: 9, missed: 7, reset: true },
    ];
    const since: unknown[] = [];
    const upstream: EventClient<undefined, number> = {
      recent: async () => ({ cursor: "a.1", occurrences: [1] }),
      wait: async (_input, use) => {
        since.push(use?.since);
        const answer = answers.shift();
        if (answer !== undefined) return answer;
        return new Promise((_resolve, reject) =>
          use?.signal?.addEventListener("abort", () => reject(use.signal?.reason)),
        );
      },
    };
    const { live } = startMill();
    const opened = openProjection(live, board, () => ({ ground: derive.event(upstream, (n) => n) }));
    expect(await kept(opened.client.ground, 4)).toEqual([1, 2, 3, 9]);
    expect(since).toEqual(["a.1", "a.2", "b.0", "b.1", "b.9"]);
    await opened.live.close();
  });

  it("tells those who wait that upstream cannot be reached, begins again, and goes on where it was", async () => {
    const since: unknown[] = [];
    const pending: { answer(wait: EventWait<number>): void; fail(cause: unknown): void }[] = [];
    const upstream: EventClient<undefined, number> = {
      recent: async () => ({ cursor: "a.1", occurrences: [1] }),
      wait: (_input, use) => {
        since.push(use?.since);
        return new Promise((answer, fail) => pending.push({ answer, fail }));
      },
    };
    const { live } = startMill();
    const { client } = openProjection(live, board, () => ({ ground: derive.event(upstream, (n) => n) }));
    expect(await kept(client.ground, 1)).toEqual([1]);
    const waiting = client.ground.wait(undefined, { timeoutMs: 10_000 });
    await settle();
    pending.shift()?.fail(new SurfaceError("UNAVAILABLE", "hidden"));
    await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await until(() => pending.length === 1);
    pending.shift()?.answer({ status: "fired", cursor: "a.2", occurrence: 2 });
    expect(await kept(client.ground, 2)).toEqual([1, 2]);
    expect(since).toEqual(["a.1", "a.1", "a.2"]);
  });

  it("does not ask without end when upstream answers at once that nothing has happened", async () => {
    let asked = 0;
    const upstream: EventClient<undefined, number> = {
      recent: async () => ({ cursor: "a.0", occurrences: [] }),
      wait: async () => {
        asked += 1;
        return { status: "timed_out", cursor: "a.0" };
      },
    };
    const { live } = startMill();
    const opened = openProjection(live, board, () => ({ ground: derive.event(upstream, (n) => n) }));
    await settle(200);
    expect(asked).toBeLessThan(20);
    await opened.live.close();
  });
});

describe("derive.event() of a cell", () => {
  it("asks map of each value and the one before, from the first on", async () => {
    const { live, speed } = startMill();
    const asked: unknown[] = [];
    const { client } = openProjection(live, board, (up) => ({
      ground: derive.event(up.speed, (value, previous) => {
        asked.push([value, previous]);
        return previous !== undefined && value > previous ? value : undefined;
      }),
    }));
    await until(() => asked.length === 1);
    speed.set(5);
    await until(() => asked.length === 2);
    speed.set(2);
    await until(() => asked.length === 3);
    expect(asked).toEqual([
      [1, undefined],
      [5, 1],
      [2, 5],
    ]);
    expect(await kept(client.ground, 1)).toEqual([5]);
  });

  it("answers nobody before it has read the cell, whose first value is what has happened before", async () => {
    const { live, speed } = startMill();
    const { client } = openProjection(live, board, (up) => ({ ground: derive.event(up.speed, (value) => value) }));
    expect(await client.ground.wait(undefined, { timeoutMs: 50 })).toMatchObject({ status: "timed_out" });
    const { cursor: since, occurrences } = await client.ground.recent();
    expect(occurrences).toEqual([1]);
    speed.set(2);
    expect(await client.ground.wait(undefined, { since })).toMatchObject({ status: "fired", occurrence: 2 });
  });

  it("answers once map has thrown at the first value, and spins on none that fails each time", async () => {
    const { live } = startMill();
    let asked = 0;
    const { client, faults } = openProjection(live, board, (up) => ({
      ground: derive.event(up.speed, () => {
        asked += 1;
        throw new Error("secret");
      }),
    }));
    expect((await client.ground.recent()).occurrences).toEqual([]);
    await settle(50);
    expect([asked, faults.length]).toEqual([1, 1]);
  });

  it("makes nothing of a stale value, and compares the next with the last good one, over a loss too", async () => {
    const stale = { reason: "lost", since: "2026-01-01T00:00:00.000Z" } as const;
    const opened: Reading<number>[][] = [[{ value: 1 }, { value: 5, stale }], [{ value: 7 }]];
    const asked: unknown[] = [];
    async function* readings(use: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Reading<number>> {
      const given = opened.shift();
      yield* given ?? [];
      if (opened.length > 0) throw new SurfaceError("DISCONNECTED", "hidden");
      await new Promise<void>((resolve) => use.signal?.addEventListener("abort", () => resolve()));
    }
    const { live: upstream } = startMill();
    const { live } = openProjection(upstream, board, (up) => ({
      ground: derive.event({ ...up.speed, readings }, (value, previous) => {
        asked.push([value, previous]);
        return asked.length > 2 ? value : undefined;
      }),
    }));
    await until(() => asked.length === 2);
    expect(asked).toEqual([
      [1, undefined],
      [7, 1],
    ]);
    await live.close();
  });

  /** A cell of objects that is read again after each loss, as over a wire: each reading is an object of its own. */
  function reconnecting(given: { n: number }[][]) {
    const losses = createHang();
    async function* readings(use: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Reading<{ n: number }>> {
      for (const value of given.shift() ?? []) yield { value: structuredClone(value) };
      if (given.length > 0) throw new SurfaceError("DISCONNECTED", "hidden");
      losses.release();
      await new Promise<void>((resolve) => use.signal?.addEventListener("abort", () => resolve()));
    }
    const upstream: CellClient<{ n: number }> = {
      readings,
      get: async () => ({ n: 0 }),
      reading: async () => ({ value: { n: 0 } }),
      async *watch() {},
    };
    return { upstream, over: losses.hung };
  }

  it("says that nothing has happened where upstream is back with an equal value", async () => {
    const { upstream, over } = reconnecting([[{ n: 1 }], [{ n: 1 }, { n: 2 }], [{ n: 2 }, { n: 3 }]]);
    const asked: unknown[] = [];
    const { live: source } = startMill();
    const { live } = openProjection(source, board, () => ({
      ground: derive.event(upstream, ({ n }, previous) => {
        asked.push([n, previous?.n]);
        return n;
      }),
    }));
    await over;
    expect(asked).toEqual([
      [1, undefined],
      [2, 1],
      [3, 2],
    ]);
    await live.close();
  });

  it("puts no equal value again to a map that has thrown at it", async () => {
    const { upstream, over } = reconnecting([[{ n: 1 }], [{ n: 1 }, { n: 2 }], [{ n: 2 }]]);
    const asked: unknown[] = [];
    const { live: source } = startMill();
    const { live, faults } = openProjection(source, board, () => ({
      ground: derive.event(upstream, ({ n }, previous) => {
        asked.push([n, previous?.n]);
        throw new Error("secret");
      }),
    }));
    await over;
    expect(asked).toEqual([
      [1, undefined],
      [2, 1],
    ]);
    expect(faults).toHaveLength(2);
    await live.close();
  });

  it("takes every value for another that has no end", async () => {
    const endless = (n: number): { n: number } => {
      const value = { n, self: {} };
      value.self = value;
      return value;
    };
    const { upstream, over } = reconnecting([[endless(1), endless(2)]]);
    const asked: number[] = [];
    const { live: source } = startMill();
    const { live } = openProjection(source, board, () => ({
      ground: derive.event(upstream, ({ n }) => asked.push(n)),
    }));
    await over;
    expect(asked).toEqual([1, 2]);
    await live.close();
  });

  it("leaves out a change that its filter refuses, whose value is the one before the next all the same", async () => {
    const { upstream, over } = reconnecting([[{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]]);
    const filtered: unknown[] = [];
    const asked: unknown[] = [];
    const { live: source } = startMill();
    const { live, client } = openProjection(source, board, () => ({
      ground: derive.event(
        upstream,
        ({ n }, previous) => {
          asked.push([n, previous?.n]);
          return n;
        },
        {
          filter: ({ n }, previous) => {
            filtered.push([n, previous?.n]);
            return n % 2 === 0;
          },
        },
      ),
    }));
    await over;
    expect(filtered).toEqual([
      [1, undefined],
      [2, 1],
      [3, 2],
      [4, 3],
    ]);
    expect(asked).toEqual([
      [2, 1],
      [4, 3],
    ]);
    expect(await kept(client.ground, 2)).toEqual([2, 4]);
    await live.close();
  });
});

describe("the options of derive.event()", () => {
  const { client } = surfaceClientRef(startMill().live);
  const same = (value: number): number => value;

  it.each([
    ["input", "of a cell", () => derive.event(client.speed, same, { input: () => undefined } as never)],
    ["fliter", "of a cell", () => derive.event(client.speed, same, { fliter: () => true } as never)],
    ["fliter", "of an event", () => derive.event(client.ground, same, { fliter: () => true } as never)],
    ["filter", "that is no function", () => derive.event(client.speed, same, { filter: true } as never)],
    ["options", "that are no object", () => derive.event(client.speed, same, null as never)],
  ])("are refused when they have %s %s", (named, _of, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(named) }));
  });
});
