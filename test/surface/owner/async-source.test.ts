import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../../src/errors.ts";
import { Scope } from "../../../src/spine/scope.ts";
import { cell, collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { CellOwner } from "../../../src/surface/owner/source-reader.ts";
import { polled, cellSource, type CollectionChange, type SourceUse } from "../../../src/surface/source.ts";
import { noteRejections, openLive, settle, until } from "../support.ts";

const Issue = z.object({ title: z.string() });
const tracker = defineSurface("tracker", {
  open: cell({ schema: z.object({ n: z.number() }) }),
  issues: collection({ key: z.number(), schema: Issue }),
});

/** A table that another process writes: each query is asynchronous and gives new objects. */
class Table {
  rows = new Map([[1, { title: "one" }]]);
  queries = 0;
  running = 0;
  most = 0;
  failure: Error | undefined;
  /** Held open until it resolves. */
  slow: Promise<void> | undefined;
  readonly signals: AbortSignal[] = [];

  async query<TValue>(read: () => TValue, { signal }: SourceUse): Promise<TValue> {
    this.queries += 1;
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    this.signals.push(signal);
    try {
      await this.slow;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.failure !== undefined) throw this.failure;
      return structuredClone(read());
    } finally {
      this.running -= 1;
    }
  }

  readonly open = { get: (use: SourceUse) => this.query(() => ({ n: this.rows.size }), use) };
  readonly issues = {
    keys: (use: SourceUse) => this.query(() => [...this.rows.keys()], use),
    get: (key: number, use: SourceUse) => this.query(() => this.rows.get(key), use),
  };
}

const opened = (table: Table) => openLive(tracker, { open: table.open, issues: table.issues });

/** Time that stands still until it is moved on. */
function stopTime() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      vi.advanceTimersByTime(100);
      await settle(6);
    }
  };
}

/** Notes what an iteration gives, until it is left. */
function note<TValue>(values: AsyncIterable<TValue>) {
  const seen: TValue[] = [];
  const iterator = values[Symbol.asyncIterator]();
  const run = async (): Promise<void> => {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) seen.push(step.value);
  };
  void run();
  return { seen, leave: () => iterator.return?.() };
}

describe("a source that answers later", () => {
  it("is asked by each read of a cell, of keys and of an item, and what it gives is validated", async () => {
    const table = new Table();
    const { client } = await opened(table);
    expect([await client.open.get(), await client.issues.keys(), await client.issues.get(1)]).toEqual([
      { n: 1 },
      [1],
      { title: "one" },
    ]);
    table.rows.set(2, { title: 2 as never });
    expect([await client.open.get(), await client.issues.get(3)]).toEqual([{ n: 2 }, undefined]);
    await expect(client.issues.get(2)).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
  });

  it("may give a query that has a then(), and a map", async () => {
    const lazy = {
      // oxlint-disable-next-line unicorn/no-thenable -- as the queries of database clients
      then: (resolve: (value: { n: number }) => unknown) => Promise.resolve({ n: 7 }).then(resolve),
    };
    const { client } = await openLive(tracker, {
      open: { get: () => lazy as PromiseLike<{ n: number }> },
      issues: polled(async () => new Map([[5, { title: "five" }]])),
    });
    expect(await client.open.get()).toEqual({ n: 7 });
    expect([await client.issues.keys(), await client.issues.get(5)]).toEqual([[5], { title: "five" }]);
  });

  it("is masked when it rejects; the first fault of a code is reported, and again after it worked", async () => {
    const rejections = noteRejections();
    const table = new Table();
    const { client, faults } = await opened(table);
    table.failure = Object.assign(new Error("secret host"), { code: "ECONNREFUSED" });
    const failures = await Promise.all(
      [client.issues.keys(), client.issues.get(1), client.issues.get(2)].map((read) => read.catch((cause) => cause)),
    );
    expect(failures).toMatchObject(
      [0, 0, 0].map(() => ({ code: "INTERNAL", correlationId: faults[0]?.correlationId })),
    );
    expect(String(failures[0])).not.toContain("secret");
    expect(faults).toHaveLength(1);
    table.failure = undefined;
    await client.issues.keys();
    table.failure = Object.assign(new Error("secret host"), { code: "ECONNREFUSED" });
    await client.issues.keys().catch(() => {});
    expect(faults).toHaveLength(2);
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it("is aborted when its reader leaves, and when the surface closes, which waits until it has settled", async () => {
    const table = new Table();
    let release = (): void => {};
    table.slow = new Promise((resolve) => (release = resolve));
    const { client, live, faults } = await opened(table);
    const leaving = new AbortController();
    const left = client.open.get({ signal: leaving.signal }).catch((cause) => cause);
    const closed = client.issues.get(1).catch((cause) => cause);
    await until(() => table.signals.length === 2);
    leaving.abort();
    expect(await left).toMatchObject({ code: "ABORTED" });
    expect(table.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    let isClosed = false;
    const closing = live.close().then(() => (isClosed = true));
    expect(await closed).toMatchObject({ code: "CLOSED" });
    expect(table.signals[1]?.aborted).toBe(true);
    await settle();
    expect(isClosed).toBe(false);
    release();
    await closing;
    expect(faults).toEqual([]);
  });

  it("is reported when it fails because its own use was cancelled, or a deadline passed", async () => {
    const table = new Table();
    const { client, faults } = await opened(table);
    table.failure = new SurfaceError("ABORTED", "Cannot read the source of it: cancelled");
    await expect(client.open.get()).rejects.toMatchObject({ code: "ABORTED" });
    table.slow = new Promise(() => {});
    const late = new AbortController();
    const read = client.open.get({ signal: late.signal }).catch((cause) => cause);
    await until(() => table.signals.length === 2);
    late.abort(new SurfaceError("TIMEOUT", "Cannot finish a call: it took too long"));
    expect(await read).toMatchObject({ code: "TIMEOUT" });
    expect(faults.map(({ cause }) => cause)).toMatchObject([{ code: "ABORTED" }, { code: "TIMEOUT" }]);
  });

  it("needs no promise where it answers at once", async () => {
    const scope = new Scope("test");
    const setting = { key: "open", scope, report: () => {}, handlers: {} };
    const { open } = tracker.members;
    expect(new CellOwner(open, cellSource({ n: 1 }), setting).get({})).toEqual({ n: 1 });
    expect(new CellOwner(open, { get: () => ({ n: 2 }) }, setting).get({})).toEqual({ n: 2 });
  });
});

describe("a source without subscribe", () => {
  it("is polled while it is watched, once for all who watch, and not otherwise", async () => {
    const pass = stopTime();
    const table = new Table();
    const { client } = await opened(table);
    await client.open.get();
    expect(vi.getTimerCount()).toBe(0);
    const [one, other] = [note(client.open.watch()), note(client.open.watch())];
    await settle(8);
    const before = table.queries;
    await pass(6000);
    // Content that is the same is no change.
    expect([table.queries - before, one.seen, other.seen]).toEqual([3, [{ n: 1 }], [{ n: 1 }]]);
    table.rows.set(2, { title: "two" });
    await pass(2000);
    expect([one.seen, other.seen]).toEqual([0, 0].map(() => [{ n: 1 }, { n: 2 }]));
    await one.leave();
    await pass(2000);
    const last = table.queries;
    await other.leave();
    expect(vi.getTimerCount()).toBe(0);
    await pass(6000);
    expect(table.queries).toBe(last);
  });

  it("is read at once for a watcher that joins", async () => {
    stopTime();
    const table = new Table();
    const { client } = await opened(table);
    const first = note(client.open.watch());
    await until(() => first.seen.length === 1);
    table.rows.set(2, { title: "two" });
    const second = note(client.open.watch());
    await until(() => first.seen.length === 2 && second.seen.at(-1)?.n === 2);
    expect(first.seen).toEqual([{ n: 1 }, { n: 2 }]);
    await Promise.all([first.leave(), second.leave()]);
  });

  it("is read one at a time: a slow read delays the next", async () => {
    const pass = stopTime();
    const table = new Table();
    let release = (): void => {};
    table.slow = new Promise((resolve) => (release = resolve));
    const { client } = await openLive(tracker, { open: { ...table.open, pollMs: 100 }, issues: table.issues });
    const watches = [1, 2, 3].map(() => note(client.open.watch()));
    await pass(5000);
    expect([table.queries, table.most]).toEqual([1, 1]);
    table.slow = undefined;
    release();
    await pass(1000);
    expect(table.queries).toBeGreaterThan(3);
    expect(table.most).toBe(1);
    for (const { leave } of watches) await leave();
  });

  it("is watched through failures: it is read again with growing delays, and a change is told only if there is one", async () => {
    const pass = stopTime();
    const table = new Table();
    const { client, faults } = await opened(table);
    const watch = note(client.open.watch());
    const readings = note(client.open.readings());
    await settle(8);
    table.failure = new Error("the database is away");
    const before = table.queries;
    await pass(30_000);
    expect(table.queries - before).toBeGreaterThan(4);
    expect(table.queries - before).toBeLessThan(25);
    expect(faults).toHaveLength(1);
    table.failure = undefined;
    await pass(10_000);
    expect(watch.seen).toEqual([{ n: 1 }]);
    expect(readings.seen).toEqual([
      { value: { n: 1 } },
      { value: { n: 1 }, stale: { reason: "lost", since: expect.any(String) } },
      { value: { n: 1 } },
    ]);
    table.failure = new Error("the database is away");
    await pass(5000);
    table.failure = undefined;
    table.rows.clear();
    await pass(10_000);
    expect(watch.seen).toEqual([{ n: 1 }, { n: 0 }]);
    await Promise.all([watch.leave(), readings.leave()]);
  });

  it("is aborted when a poll hangs, which is reported once, and polled again", async () => {
    const pass = stopTime();
    const table = new Table();
    table.slow = new Promise(() => {});
    const { client, faults } = await opened(table);
    const watch = note(client.open.watch());
    await until(() => table.signals.length === 1);
    await pass(60_000);
    expect(table.signals[0]?.aborted).toBe(true);
    table.slow = undefined;
    await pass(10_000);
    expect(watch.seen).toEqual([{ n: 1 }]);
    expect(faults.map(({ cause }) => String(cause))).toEqual([expect.stringContaining("no answer within 60000 ms")]);
    await watch.leave();
  });

  it("has its keys and items polled too, also where it answers at once", async () => {
    const pass = stopTime();
    const table = new Table();
    const rows = new Map([[1, { title: "one" }]]);
    for (const [source, write] of [
      [table.issues, (key: number, title: string) => table.rows.set(key, { title })],
      [rows, (key: number, title: string) => rows.set(key, { title })],
      [{ get: () => rows }, (key: number, title: string) => rows.set(key, { title })],
    ] as const) {
      write(1, "one");
      const { client, live } = await openLive(tracker, { open: table.open, issues: source });
      const [keys, item, none] = [
        note(client.issues.watchKeys()),
        note(client.issues.watch(1)),
        note(client.issues.watch(99)),
      ];
      await pass(2000);
      write(1, "another");
      await pass(2000);
      write(9, "nine");
      await pass(2000);
      expect(keys.seen).toEqual([[1], [1, 9]]);
      expect(item.seen).toEqual([{ title: "one" }, { title: "another" }]);
      expect(none.seen).toEqual([undefined]);
      await live.close();
      expect(vi.getTimerCount()).toBe(0);
      for (const each of [rows, table.rows]) each.delete(9);
    }
  });

  it("has each part of a collection read once for all its watchers, and forgotten with the last of them", async () => {
    const pass = stopTime();
    const table = new Table();
    const { client } = await opened(table);
    const watches = [1, 2].map(() => note(client.issues.watch(1)));
    await until(() => watches.every(({ seen }) => seen.length === 1));
    await settle(8);
    const before = table.queries;
    await pass(6000);
    expect(table.queries - before).toBe(3);
    for (const { leave } of watches) await leave();
    table.failure = new Error("away");
    const late = note(client.issues.watch(1));
    await pass(6000);
    expect(late.seen).toEqual([]);
    await late.leave();
  });

  it("is refused at startup where its time between reads is out of bounds", () => {
    const { open, issues } = new Table();
    for (const pollMs of [0, 9, -1, Number.NaN, 3_600_001, "2000" as never]) {
      expect(() => implementSurface(tracker, { open: { ...open, pollMs }, issues })).toThrow('cell "open": "pollMs"');
      expect(() => implementSurface(tracker, { open, issues: { ...issues, pollMs } })).toThrow('collection "issues"');
      expect(() => polled(() => 1, { everyMs: pollMs })).toThrow('"everyMs"');
    }
    expect(() => polled(5 as never)).toThrow("must be a function that reads");
    expect(() => polled(() => 1, { pollMs: 1 } as never)).toThrow('"pollMs" is not an option');
  });
});

describe("a source that answers later and tells of changes", () => {
  it("is read when it tells, and not polled; an item, only of changes that concern it", async () => {
    const pass = stopTime();
    const table = new Table();
    const tellers = new Set<(change: CollectionChange<number>) => void>();
    const subscribe = (fn: (change: CollectionChange<number>) => void) => {
      tellers.add(fn);
      return () => void tellers.delete(fn);
    };
    const { client } = await openLive(tracker, { open: table.open, issues: { ...table.issues, subscribe } });
    const [keys, item] = [note(client.issues.watchKeys()), note(client.issues.watch(1))];
    await settle(8);
    const before = table.queries;
    await pass(10_000);
    expect([table.queries, tellers.size]).toEqual([before, 2]);
    table.rows.set(2, { title: "two" });
    for (const tell of tellers) tell({ set: [2], removed: [] });
    await settle(8);
    expect([keys.seen, item.seen, table.queries]).toEqual([[[1], [1, 2]], [{ title: "one" }], before + 1]);
    table.failure = new Error("away");
    for (const tell of tellers) tell({ set: [1], removed: [] });
    await settle(8);
    table.failure = undefined;
    table.rows.set(1, { title: "uno" });
    await pass(1000);
    expect(item.seen).toEqual([{ title: "one" }, { title: "uno" }]);
    await Promise.all([keys.leave(), item.leave()]);
    expect(tellers.size).toBe(0);
  });
});
