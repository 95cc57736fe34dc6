import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { event } from "../../../src/surface/define-members.ts";
import { kChannel } from "../../../src/surface/implement-surface.ts";
import { listeners, openLive, settle, take, until } from "../support.ts";
import { Pushed } from "./pushed.ts";
import { operationsOf } from "../uses-of.ts";

const bell = defineSurface("bell", { rang: event({ output: z.number() }) });
const replaying = defineSurface("bell", { rang: event({ output: z.number(), replayLast: true }) });
const byRoom = defineSurface("rooms", { rang: event({ input: z.object({ room: z.string() }), output: z.number() }) });

async function openBell(surface: typeof bell | typeof replaying = bell) {
  const pushed = new Pushed<number>();
  const opened = await openLive(surface as typeof bell, { rang: (_input, { signal }) => pushed.run(signal) });
  await settle();
  return { ...opened, pushed, wait: opened.client.rang };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("an event", () => {
  it("wait() loses no occurrence between two waits when it settles anywhere, a thousand times", async () => {
    const { client, pushed, live } = await openBell();
    let { cursor } = await client.rang.recent();
    const seen: unknown[] = [];
    let sent = 0;
    const random = fc.sample(fc.record({ before: fc.nat(2), during: fc.nat(2), turn: fc.boolean() }), 1000);
    for (const { before, during, turn } of random) {
      for (let count = 0; count < before; count += 1) pushed.push((sent += 1));
      if (turn) await settle(1);
      const waiting = client.rang.wait(undefined, { since: cursor, timeoutMs: 15_000 });
      for (let count = 0; count < during; count += 1) pushed.push((sent += 1));
      if (seen.length === sent) pushed.push((sent += 1));
      const answer = await waiting;
      expect(answer).not.toHaveProperty("reset");
      seen.push(answer.occurrence);
      cursor = answer.cursor;
      // Bounded, so that the ring keeps what was not read yet.
      while (sent - seen.length > 30) {
        const more = await client.rang.wait(undefined, { since: cursor, timeoutMs: 15_000 });
        seen.push(more.occurrence);
        cursor = more.cursor;
      }
    }
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1));
    await live.close();
  });

  it("recent() has everything in it, and before its cursor, that was said when it was called", async () => {
    const { client, pushed } = await openBell();
    pushed.push(1);
    const page = await client.rang.recent();
    expect(page.occurrences).toEqual([1]);
    expect(await client.rang.wait(undefined, { since: page.cursor, timeoutMs: 0 })).toMatchObject({
      status: "timed_out",
    });
  });

  it("wait() says how many it missed when the ring no longer keeps them", async () => {
    const { client, pushed } = await openBell();
    const { cursor } = await client.rang.recent();
    for (let count = 1; count <= 70; count += 1) pushed.push(count);
    await settle();
    const answer = await client.rang.wait(undefined, { since: cursor });
    expect(answer).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 7, missed: 6, reset: true });
    expect((await client.rang.recent()).occurrences).toHaveLength(64);
    const next = await client.rang.wait(undefined, { since: answer.cursor });
    expect(next).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 8 });
  });

  it.each(["", "garbage", "0123456789.1", "a.b.c", `${"f".repeat(33)}.1`, "zz.-1", "zz.1e3"])(
    "wait() answers at once with reset when the cursor is %j, and nothing since the beginning is lost",
    async (since) => {
      const { client, pushed } = await openBell();
      pushed.push(1);
      pushed.push(2);
      await settle();
      const answer = await client.rang.wait(undefined, { since });
      expect(answer).toEqual({ status: "timed_out", cursor: expect.any(String), reset: true });
      const first = await client.rang.wait(undefined, { since: answer.cursor });
      expect(first).toMatchObject({ status: "fired", occurrence: 1 });
    },
  );

  it("wait() resets when the cursor is of the future, of another event or of an earlier life", async () => {
    const surface = defineSurface("two", { one: event({ output: z.number() }), two: event({ output: z.number() }) });
    const [one, two] = [new Pushed<number>(), new Pushed<number>()];
    const handlers = {
      one: (_input: undefined, { signal }: { signal: AbortSignal }) => one.run(signal),
      two: (_input: undefined, { signal }: { signal: AbortSignal }) => two.run(signal),
    };
    const { client, live } = await openLive(surface, handlers);
    await settle();
    one.push(1);
    two.push(1);
    await settle();
    const { cursor } = await client.one.recent();
    expect(await client.two.wait(undefined, { since: cursor })).toMatchObject({ reset: true });
    const ahead = cursor.replace(/\.\d+$/, ".999");
    expect(await client.one.wait(undefined, { since: ahead })).toMatchObject({ reset: true });
    await live.close();
    const again = await openLive(surface, handlers);
    expect(await again.client.one.wait(undefined, { since: cursor })).toMatchObject({ reset: true });
  });

  it("wait() without a cursor waits for what happens next, or starts at the newest when the event replays it", async () => {
    const { client, pushed } = await openBell();
    pushed.push(1);
    await settle();
    const waiting = client.rang.wait();
    await settle();
    pushed.push(2);
    expect(await waiting).toMatchObject({ status: "fired", occurrence: 2 });

    const other = await openBell(replaying);
    other.pushed.push(1);
    other.pushed.push(2);
    await settle();
    const last = await other.client.rang.wait();
    expect(last).toMatchObject({ status: "fired", occurrence: 2 });
    expect(await other.client.rang.wait(undefined, { since: last.cursor, timeoutMs: 0 })).toMatchObject({
      status: "timed_out",
      cursor: last.cursor,
    });
  });

  it("wait() times out after its own time or the default when nothing happens", async () => {
    const { client } = await openBell();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [short, usual] = [client.rang.wait(undefined, { timeoutMs: 1000 }), client.rang.wait()];
    await settle();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await short).toEqual({ status: "timed_out", cursor: expect.any(String) });
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(24_000);
    expect(await usual).toMatchObject({ status: "timed_out" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([-1, 60_001, Number.NaN, Number.POSITIVE_INFINITY, "5" as never])(
    "wait() refuses a time-out of %s",
    async (timeoutMs) => {
      const { client } = await openBell();
      await expect(client.rang.wait(undefined, { timeoutMs })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        issues: [{ path: "timeout_ms" }],
      });
    },
  );

  it("wait() ends when its caller cancels or the surface closes, and leaves neither timer nor listener", async () => {
    const { client, live } = await openBell();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const controller = new AbortController();
    const cancelled = client.rang.wait(undefined, { signal: controller.signal });
    const closed = client.rang.wait();
    const outcomes = Promise.allSettled([cancelled, closed]);
    await settle();
    controller.abort();
    await settle();
    expect([vi.getTimerCount(), listeners(controller.signal)]).toEqual([1, 0]);
    await live.close();
    expect(await outcomes).toMatchObject([{ reason: { code: "ABORTED" } }, { reason: { code: "CLOSED" } }]);
    expect(vi.getTimerCount()).toBe(0);
    await expect(client.rang.wait()).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("wait() lets every waiter continue from its own cursor when several wait at once", async () => {
    const { client, pushed } = await openBell();
    const start = await client.rang.recent();
    pushed.push(1);
    await settle();
    const middle = await client.rang.recent();
    const controller = new AbortController();
    const waits = [
      client.rang.wait(undefined, { since: start.cursor }),
      client.rang.wait(undefined, { since: middle.cursor }),
      client.rang.wait(undefined, { since: middle.cursor, signal: controller.signal }),
    ];
    const outcomes = Promise.allSettled(waits);
    await settle();
    controller.abort();
    pushed.push(2);
    expect(await outcomes).toMatchObject([
      { value: { occurrence: 1 } },
      { value: { occurrence: 2 } },
      { reason: { code: "ABORTED" } },
    ]);
    expect(pushed.opened).toBe(1);
  });

  it("wait() fails, masked, with a handler that fails, and starts it anew by the next use, with the ring as it was", async () => {
    const { client, pushed, faults } = await openBell();
    pushed.push(1);
    await settle();
    const waits = Promise.allSettled([client.rang.wait(), client.rang.wait()]);
    await settle();
    pushed.fail(new Error("secret"));
    expect(await waits).toMatchObject([{ reason: { code: "INTERNAL" } }, { reason: { code: "INTERNAL" } }]);
    expect(faults.map((fault) => fault.cause)).toEqual([new Error("secret")]);
    await settle();
    expect(pushed.running).toBe(0);
    expect((await client.rang.recent()).occurrences).toEqual([1]);
    const waiting = client.rang.wait();
    await until(() => pushed.running === 1);
    pushed.push(2);
    expect(await waiting).toMatchObject({ occurrence: 2 });
  });

  it("wait() fails each time when the handler fails at once, by throwing as by answering with no iterable", async () => {
    const handlers = [
      () => {
        throw new Error("at once");
      },
      () => 5 as never,
      () => Promise.reject(new Error("a promise is no iterable")) as never,
    ];
    for (const rang of handlers) {
      const { client, faults } = await openLive(bell, { rang });
      await settle();
      for (let count = 0; count < 2; count += 1) {
        await expect(client.rang.wait()).rejects.toMatchObject({ code: "INTERNAL" });
        await settle();
      }
      expect(faults.length).toBeGreaterThanOrEqual(3);
    }
  });

  it("wait() loses nothing that a finite handler said when it ended and is started anew", async () => {
    let run = 0;
    const rang = async function* (): AsyncGenerator<number> {
      run += 1;
      yield run * 10;
      yield run * 10 + 1;
    };
    const { client } = await openLive(bell, { rang });
    await settle();
    // Ended before anybody asked: it is all kept, however often somebody looks.
    await client.rang.recent();
    const first = await client.rang.recent();
    expect(first.occurrences).toEqual([10, 11]);
    expect(run).toBe(1);
    // Only who waits for more than is kept starts it again.
    const seen: unknown[] = [];
    let { cursor } = first;
    while (seen.length < 4) {
      const answer = await client.rang.wait(undefined, { since: cursor });
      seen.push(answer.occurrence);
      cursor = answer.cursor;
      // A wait that begins before the handler has ended waits for the running one.
      await settle();
    }
    expect(seen).toEqual([20, 21, 30, 31]);
  });

  it("wait() goes on until its time-out when the handler ends meanwhile", async () => {
    const { client, pushed } = await openBell();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const waiting = client.rang.wait(undefined, { timeoutMs: 5000 });
    await settle();
    let settled = false;
    void waiting.then(() => (settled = true));
    pushed.end();
    await settle();
    await vi.advanceTimersByTimeAsync(4999);
    expect(settled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toMatchObject({ status: "timed_out" });
  });

  it("an occurrence that breaks its schema ends the handler, tells the log, and is kept from everybody", async () => {
    const { client, pushed, faults } = await openBell();
    const waiting = client.rang.wait();
    await settle();
    pushed.push("secret" as never);
    await expect(waiting).rejects.toMatchObject({ code: "INVALID_OUTPUT", correlationId: expect.any(String) });
    await until(() => pushed.running === 0);
    expect(faults).toHaveLength(1);
    expect((await client.rang.recent()).occurrences).toEqual([]);
  });

  it("implementSurface() starts an event without input at once, and one with input on first use", async () => {
    const { pushed } = await openBell();
    expect(pushed.opened).toBe(1);
    const rooms: string[] = [];
    const { client } = await openLive(byRoom, {
      rang: async function* ({ room }) {
        rooms.push(room);
        yield room.length;
      },
    });
    await settle();
    expect(rooms).toEqual([]);
    await Promise.all([client.rang.recent({ room: "abc" }), client.rang.recent({ room: "abc" })]);
    await settle();
    expect(rooms).toEqual(["abc"]);
    await expect(client.rang.wait({ room: 5 as never })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("wait() is never taken its feed from when more inputs wait than are kept, and idle ones end, finally and all", async () => {
    const rooms = new Map<string, Pushed<number>>();
    const { client, live } = await openLive(byRoom, {
      rang: ({ room }, { signal }) => {
        const pushed = rooms.get(room) ?? new Pushed<number>();
        rooms.set(room, pushed);
        return pushed.run(signal);
      },
    });
    const names = Array.from({ length: 100 }, (_, index) => `room ${index}`);
    const waits = names.map((room) => client.rang.wait({ room }, { timeoutMs: 30_000 }));
    await until(() => rooms.size === 100 && [...rooms.values()].every((pushed) => pushed.running === 1));
    // The first to have its answer makes room: there are too many, and yet none that waits may go.
    rooms.get("room 99")?.push(99);
    await waits[99];
    await settle();
    for (const [index, room] of names.slice(0, 99).entries()) rooms.get(room)?.push(index);
    const answers = await Promise.all(waits);
    expect(answers.map((answer) => answer.occurrence)).toEqual(names.map((_, index) => index));
    const running = (): number => [...rooms.values()].reduce((sum, pushed) => sum + pushed.running, 0);
    await until(() => running() === 64, "idle feeds to end");
    // The most recently used are kept; a cursor of one that went is answered with a reset, not with a gap.
    expect(
      await client.rang.wait({ room: "room 98" }, { since: answers[98]?.cursor ?? "", timeoutMs: 0 }),
    ).not.toHaveProperty("reset");
    expect(await client.rang.wait({ room: "room 0" }, { since: answers[0]?.cursor ?? "" })).toMatchObject({
      reset: true,
    });
    await live.close();
    expect(running()).toBe(0);
  });

  it("the handler of an input ends half a minute after its last use, keeps what it said, and says what nobody saw", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const pushed = new Pushed<number>();
    const { client, live } = await openLive(byRoom, { rang: (_input, { signal }) => pushed.run(signal) });
    const room = { room: "a" };
    const start = await client.rang.recent(room);
    await until(() => pushed.running === 1);
    pushed.push(1);
    expect(await client.rang.wait(room, { since: start.cursor })).toMatchObject({ occurrence: 1 });
    pushed.push(2);
    await settle();
    vi.advanceTimersByTime(29_999);
    await settle();
    expect(pushed.running).toBe(1);
    vi.advanceTimersByTime(1);
    await until(() => pushed.running === 0);
    expect(vi.getTimerCount()).toBe(0);

    const second = await client.rang.wait(room, { since: start.cursor });
    expect(second).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 1 });
    const third = await client.rang.wait(room, { since: second.cursor });
    expect(third).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 2 });
    const cut = await client.rang.wait(room, { since: third.cursor });
    expect(cut).toEqual({ status: "timed_out", cursor: expect.any(String), reset: true });
    const waiting = client.rang.wait(room, { since: cut.cursor });
    await until(() => pushed.running === 1);
    await settle();
    pushed.push(3);
    expect(await waiting).toEqual({ status: "fired", cursor: expect.any(String), occurrence: 3 });
    expect(await client.rang.wait(room, { since: third.cursor })).toEqual({
      ...{ status: "fired", cursor: expect.any(String), occurrence: 3, reset: true },
    });
    await live.close();
  });

  it("a handler of an input that fails again and again is not started for ever when nobody uses it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    let runs = 0;
    const { client, live } = await openLive(byRoom, {
      // oxlint-disable-next-line require-yield -- one that fails before it says anything
      async *rang() {
        runs += 1;
        throw new Error("secret");
      },
    });
    await expect(client.rang.wait({ room: "a" })).rejects.toMatchObject({ code: "INTERNAL" });
    for (let seconds = 0; seconds < 60; seconds += 1) {
      vi.advanceTimersByTime(1000);
      await settle();
    }
    const known = runs;
    expect(known).toBeGreaterThan(1);
    vi.advanceTimersByTime(60_000);
    await settle();
    expect(runs).toBe(known);
    expect(vi.getTimerCount()).toBe(0);
    await live.close();
  });

  it("a channel opens an event for a listener of its own, from then on", async () => {
    const { live, pushed } = await openBell();
    pushed.push(1);
    const own = take(operationsOf(live[kChannel]).open("rang", undefined, {}), 1);
    await until(() => pushed.running === 2);
    pushed.push(2);
    expect(await own).toEqual([2]);
    expect([pushed.opened, pushed.running]).toEqual([2, 1]);
  });

  it("two inputs share no feed when they only look alike", async () => {
    const input = z.object({ at: z.union([z.string(), z.date(), z.set(z.string()), z.number(), z.null()]) });
    const surface = defineSurface("s", { rang: event({ input, output: z.string() }) });
    let opened = 0;
    const { client } = await openLive(surface, {
      rang: async function* () {
        opened += 1;
        yield "x";
      },
    });
    const date = new Date(0);
    const inputs = [date, date.toJSON(), new Set(["a"]), new Set(["b"]), new Set<string>(), null, "null", 1, "1"];
    for (const at of inputs) await client.rang.recent({ at });
    await settle();
    expect(opened).toBe(inputs.length);
  });

  it("a handler that never pauses lets the process have its turn", async () => {
    let last = 0;
    const { live } = await openLive(bell, {
      rang: async function* (_input, { signal }) {
        for (; !signal.aborted; last += 1) yield last;
      },
    });
    // Would never come back from here if the feed did not pause by itself.
    await settle(5);
    expect(last).toBeGreaterThan(256);
    await live.close();
  });
});
