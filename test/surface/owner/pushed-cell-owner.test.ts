import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../../src/errors.ts";
import type { Schema } from "../../../src/schema/standard.ts";
import { cell } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { kPushed, type PushedOrigin, type PushedSource, type Reading } from "../../../src/surface/reading.ts";
import { openLive, schemaOf, settle, until } from "../support.ts";
import { fail, failureOf, Pushed, stale, step } from "./pushed.ts";

const counter = defineSurface("counter", { value: cell({ schema: z.number(), default: 7 }) });

function toSource<TValue>(origin: PushedOrigin<TValue>): PushedSource<TValue> {
  return { [kPushed]: origin };
}

/** A live cell whose values a test pushes. */
async function openPushed(schema: Schema = z.number(), more: Partial<PushedOrigin<unknown>> = {}) {
  const pushed = new Pushed<Reading>();
  const surface = defineSurface("s", { value: cell({ schema }) });
  const handlers = { value: toSource<unknown>({ open: (signal) => pushed.run(signal), ...more }) };
  return { pushed, ...(await openLive(surface, handlers as never)) };
}

/** A live cell of numbers whose iterable a test makes. */
function openIterable(iterable: AsyncIterable<number>) {
  return openLive(counter, { value: iterable });
}

describe("a pushed cell", () => {
  it("get() waits for the first value, and never shows the default, when nothing has come yet", async () => {
    const { pushed, client } = await openPushed();
    let answer: unknown = "none";
    const reading = client.value.get().then((value) => (answer = value));
    await settle();
    expect(answer).toBe("none");
    pushed.push({ value: 1 });
    await reading;
    expect(answer).toBe(1);
    await until(() => pushed.running === 0);
    expect(pushed).toMatchObject({ opened: 1, finished: 1 });
  });

  it("get() rejects at once when its signal fires, or the surface closes, before a value has come", async () => {
    const { pushed, client, live } = await openPushed();
    const controller = new AbortController();
    const aborted = client.value.get({ signal: controller.signal });
    const closed = failureOf(client.value.get());
    await settle();
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    await live.close();
    expect(await closed).toMatchObject({ code: "CLOSED" });
    expect(pushed).toMatchObject({ opened: 1, finished: 1 });
  });

  it("readers share one iteration, which ends with the last of them", async () => {
    const { pushed, client } = await openPushed();
    const first = step(client.value.watch());
    const second = step(client.value.watch());
    const told = [first.next(), second.next(), client.value.get()];
    await settle();
    pushed.push({ value: 1 });
    expect(await Promise.all(told)).toEqual([1, 1, 1]);
    await first.leave();
    expect(pushed).toMatchObject({ opened: 1, running: 1 });
    expect(await client.value.get()).toBe(1);
    await second.leave();
    expect(pushed).toMatchObject({ opened: 1, running: 0 });
  });

  it("watch() gives the value now, then changes only, and skips to the newest", async () => {
    const { pushed, client } = await openPushed();
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    expect(await first).toBe(1);
    pushed.push({ value: 1 });
    pushed.push({ value: 2 });
    pushed.push({ value: 3 });
    await settle();
    expect(await values.next()).toBe(3);
    const next = values.next();
    pushed.push({ value: 3 });
    await settle();
    pushed.push({ value: 4 });
    expect(await next).toBe(4);
    await values.leave();
  });

  it("the last watcher's return(), and close(), wait for the iteration's finally", async () => {
    for (const way of ["leave", "close"] as const) {
      let release = (): void => {};
      let isOver = false;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const { client, live } = await openIterable({
        async *[Symbol.asyncIterator]() {
          try {
            yield 1;
            yield 2;
          } finally {
            await gate;
            isOver = true;
          }
        },
      });
      const values = step(client.value.watch());
      await values.next();
      const ending = way === "leave" ? values.leave() : live.close();
      let isEnded = false;
      void ending.then(() => (isEnded = true));
      await settle();
      expect({ isOver, isEnded }).toEqual({ isOver: false, isEnded: false });
      release();
      await ending;
      expect(isOver).toBe(true);
      await live.close();
    }
  });

  it("a reader who comes after a rest waits for a value of its own time", async () => {
    const { pushed, client } = await openPushed();
    const first = client.value.get();
    await settle();
    pushed.push({ value: 1 });
    await first;
    const second = client.value.get();
    await settle();
    pushed.push({ value: 2 });
    expect(await second).toBe(2);
  });

  it("get() reads without opening when it can, and beside the watch when somebody watches", async () => {
    let reads = 0;
    const read = async (): Promise<Reading> => {
      reads += 1;
      return { value: 5 };
    };
    const { pushed, client } = await openPushed(z.number(), { read });
    expect(await client.value.get()).toBe(5);
    expect(pushed.opened).toBe(0);
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 6 });
    await first;
    expect(await client.value.get()).toBe(5);
    expect(reads).toBe(2);
    await values.leave();
  });

  it("get() tells what the watch knows when a read that began before the watch is overtaken by it", async () => {
    let answer: ((reading: Reading) => void) | undefined;
    const read = (): Promise<Reading> => new Promise((resolve) => (answer = resolve));
    const { pushed, client } = await openPushed(z.number(), { read });
    const reading = client.value.get();
    await settle();
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 2 });
    await first;
    answer?.({ value: 1 });
    expect(await reading).toBe(2);
    await values.leave();
  });

  it("get() waits for what the watch will tell when that began during its read", async () => {
    let answer: ((reading: Reading) => void) | undefined;
    const read = (): Promise<Reading> => new Promise((resolve) => (answer = resolve));
    const { pushed, client } = await openPushed(z.number(), { read });
    const reading = client.value.get();
    await settle();
    const values = step(client.value.watch());
    const first = values.next();
    answer?.({ value: 1 });
    await settle();
    pushed.push({ value: 2 });
    expect(await Promise.all([reading, first])).toEqual([2, 2]);
    await values.leave();
  });

  it("the last good value stands as lost when its read fails, and the fault is told once", async () => {
    const answers: (() => Reading)[] = [() => ({ value: 1 }), fail, fail, () => ({ value: 2 })];
    const read = async (): Promise<Reading> => (answers.shift() ?? fail)();
    const { client, faults } = await openPushed(z.number(), { read });
    expect(await client.value.reading()).toEqual({ value: 1 });
    const known = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const lost = await client.value.reading();
    expect(lost).toEqual(stale(1, "lost"));
    expect(Date.parse(lost.stale?.since ?? "")).toBeLessThanOrEqual(known);
    expect(await client.value.reading()).toEqual(lost);
    expect(faults).toHaveLength(1);
    expect(await client.value.reading()).toEqual({ value: 2 });
  });

  it("the last good value stands as lost while its upstream fails, until that has a good one again", async () => {
    const { pushed, client, faults } = await openPushed();
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    expect(await first).toEqual({ value: 1 });
    pushed.fail(new Error("secret"));
    expect(await values.next()).toEqual(stale(1, "lost"));
    expect(await client.value.get()).toBe(1);
    await until(() => pushed.opened === 2);
    pushed.fail(new Error("secret again"));
    await until(() => pushed.opened === 3);
    expect(faults).toMatchObject([{ where: 'cell "value"', cause: { message: "secret" } }]);
    pushed.push({ value: 1 });
    expect(await values.next()).toEqual({ value: 1 });
    pushed.fail(new Error("another spell"));
    await values.next();
    expect(faults).toHaveLength(2);
    await values.leave();
    expect(pushed.running).toBe(0);
  });

  it("watch() repeats no value that has only gone stale and come back", async () => {
    const { pushed, client } = await openPushed();
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    const next = values.next();
    pushed.fail(new Error("lost"));
    await until(() => pushed.opened === 2);
    pushed.push({ value: 1 });
    await settle();
    pushed.push({ value: 2 });
    expect(await next).toBe(2);
    await values.leave();
  });

  it("a value that was known before a rest is stale since then when it cannot be had again", async () => {
    const { pushed, client } = await openPushed();
    const first = client.value.get();
    await settle();
    pushed.push({ value: 1 });
    await first;
    const rested = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = client.value.reading();
    await settle();
    pushed.fail(new Error("gone"));
    const reading = await second;
    expect(reading).toEqual(stale(1, "lost"));
    expect(Date.parse(reading.stale?.since ?? "") - Date.parse(rested)).toBeLessThan(20);
  });

  it("readers fail when there never was a value, and watchers wait for one through every failure", async () => {
    const { pushed, client, faults } = await openPushed();
    const values = step(client.value.watch());
    const first = values.next();
    const read = failureOf(client.value.get());
    await settle();
    pushed.fail(new Error("secret"));
    const failure = await read;
    expect(failure).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
    expect(String(failure)).not.toContain("secret");
    expect(await failureOf(client.value.get())).toBe(failure);
    await until(() => pushed.opened === 2);
    const again = client.value.get();
    await settle();
    pushed.push({ value: 1 });
    expect(await again).toBe(1);
    expect(await first).toBe(1);
    expect(faults).toHaveLength(1);
    await values.leave();
  });

  it.each(["UNAVAILABLE", "DISCONNECTED", "DROPPED"] as const)(
    "get() says that upstream is gone, in words of its own, when it fails with %s",
    async (code) => {
      const { pushed, client } = await openPushed();
      const read = failureOf(client.value.get());
      await settle();
      pushed.fail(new SurfaceError(code, 'Using "hidden"'));
      const failure = await read;
      expect(failure).toMatchObject({ code: code === "DROPPED" ? code : "UNAVAILABLE" });
      expect(String(failure)).not.toContain("hidden");
    },
  );

  it("a value that does not fit is refused and reported once, and the last good one stands as invalid", async () => {
    const { pushed, client, faults } = await openPushed();
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    pushed.push({ value: "secret" });
    expect(await values.next()).toEqual(stale(1, "invalid"));
    pushed.push({ value: "secret too" });
    await settle();
    expect(faults).toMatchObject([{ cause: { code: "INVALID_OUTPUT" } }]);
    expect(pushed.opened).toBe(1);
    pushed.push({ value: 2 });
    expect(await values.next()).toEqual({ value: 2 });
    await values.leave();
  });

  it("get() refuses a first value that does not fit", async () => {
    const { pushed, client } = await openPushed();
    const read = failureOf(client.value.get());
    await settle();
    pushed.push({ value: "secret" });
    expect(await read).toMatchObject({ code: "INVALID_OUTPUT", issues: [] });
  });

  it("values are told in order when their schema is asynchronous", async () => {
    const schema = schemaOf(async (value) => {
      await settle();
      return typeof value === "number" ? { value } : { issues: [{ message: "no number" }] };
    });
    const { pushed, client } = await openPushed(schema);
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    expect(await first).toEqual({ value: 1 });
    pushed.push({ value: "x" });
    expect(await values.next()).toEqual(stale(1, "invalid"));
    pushed.push({ value: 2 });
    expect(await values.next()).toEqual({ value: 2 });
    await values.leave();
  });

  it("what is stale upstream is stale here", async () => {
    const { pushed, client } = await openPushed();
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    const lost = { reason: "lost", since: "2026-01-01T00:00:00.000Z" } as const;
    pushed.push({ value: 1, stale: lost });
    expect(await first).toEqual({ value: 1, stale: lost });
    pushed.fail(new Error("lost"));
    await settle();
    expect(await client.value.reading()).toEqual({ value: 1, stale: lost });
    await until(() => pushed.opened === 2);
    pushed.push({ value: 1 });
    expect(await values.next()).toEqual({ value: 1 });
    await values.leave();
  });

  it("a source that ends is opened again, its value stale as long as it has given no other", async () => {
    const { pushed, client, faults } = await openPushed();
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    pushed.end();
    expect(await values.next()).toEqual(stale(1, "ended"));
    await until(() => pushed.opened === 2);
    pushed.push({ value: 2 });
    expect(await values.next()).toEqual({ value: 2 });
    expect(faults).toEqual([]);
    await values.leave();
  });

  it("get() answers that there is nothing when its source has ended without a value", async () => {
    const { pushed, client } = await openPushed();
    const read = failureOf(client.value.get());
    await settle();
    pushed.end();
    expect(await read).toMatchObject({ code: "ABSENT" });
  });

  it("a frame that is no reading is refused as a value that does not fit", async () => {
    const { pushed, client, faults } = await openPushed();
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    pushed.push("hidden" as never);
    expect(await values.next()).toEqual(stale(1, "invalid"));
    expect(faults).toHaveLength(1);
    await values.leave();
  });

  it("a read that was overtaken by a newer one changes nothing, and answers with that", async () => {
    const answers: ((reading: Reading) => void)[] = [];
    const read = (): Promise<Reading> => new Promise((resolve) => void answers.push(resolve));
    const { client } = await openPushed(z.number(), { read });
    const slow = client.value.reading();
    const quick = client.value.reading();
    await settle();
    answers[1]?.({ value: 2 });
    expect(await quick).toEqual({ value: 2 });
    answers[0]?.({ value: 1 });
    expect(await slow).toEqual({ value: 2 });
    const third = client.value.reading();
    await settle();
    answers[2]?.("nothing" as never);
    expect(await third).toEqual(stale(2, "invalid"));
  });

  it("a read that was overtaken by a watch which came and went changes nothing", async () => {
    let answer: (reading: Promise<Reading>) => void = () => {};
    const read = (): Promise<Reading> => new Promise((resolve) => (answer = resolve));
    for (const late of [async () => ({ value: 1 }), async () => fail()]) {
      const { pushed, client, faults } = await openPushed(z.number(), { read });
      const slow = client.value.reading();
      await settle();
      const values = step(client.value.watch());
      const first = values.next();
      await settle();
      pushed.push({ value: 2 });
      await first;
      await values.leave();
      answer(late());
      expect(await slow).toEqual({ value: 2 });
      expect(faults).toEqual([]);
    }
  });

  it("readers are told of the cause of now, each told to the log once, while causes of one reason come and go", async () => {
    const causes = ["UNAVAILABLE", "ABSENT", "UNAVAILABLE", "DROPPED"] as const;
    const left: (typeof causes)[number][] = [...causes];
    const read = async (): Promise<Reading> => {
      throw new SurfaceError(left.shift() ?? "INTERNAL", "hidden");
    };
    const { client, faults } = await openPushed(z.number(), { read });
    for (const code of causes) expect(await failureOf(client.value.get())).toMatchObject({ code });
    expect(faults).toHaveLength(3);
  });

  it("an unknown fault keeps the id under which it is logged through its spell, whatever comes between", async () => {
    const answers = [fail, () => ({ value: "x" }), fail, () => ({ value: "y" })] as (() => Reading)[];
    const read = async (): Promise<Reading> => (answers.shift() ?? fail)();
    const { client, faults } = await openPushed(z.number(), { read });
    const seen: unknown[] = [];
    for (let count = 0; count < 4; count += 1) seen.push(await failureOf(client.value.get()));
    const ids = faults.map(({ correlationId }) => correlationId);
    expect(ids).toHaveLength(2);
    expect(seen).toMatchObject([0, 1, 0, 1].map((index) => ({ correlationId: ids[index] })));
    expect(seen).toMatchObject([{ code: "INTERNAL" }, { code: "INVALID_OUTPUT" }, {}, {}]);
  });

  it.each([0, 1, 2, 3, 4])(
    "readers are told that it is closed when what it comes from ends %i turns after the surface began to close",
    async (turns) => {
      const { pushed, client, live } = await openPushed();
      const watching = step(client.value.watch());
      void watching.next();
      const reading = failureOf(client.value.get());
      await settle();
      const closing = live.close();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      pushed.end();
      await closing;
      expect(await reading).toMatchObject({ code: "CLOSED" });
    },
  );

  it("readers are told that it is closed when what they read is refused while the surface closes", async () => {
    let refuse: () => void = () => {};
    const schema = schemaOf(
      () => new Promise((resolve) => (refuse = () => resolve({ issues: [{ message: "no number" }] }))),
    );
    const { client, live } = await openPushed(schema, { read: async () => ({ value: "x" }) });
    const reading = failureOf(client.value.get());
    await settle();
    const closing = live.close();
    refuse();
    await closing;
    expect(await reading).toMatchObject({ code: "CLOSED" });
  });
});
