import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { event } from "../../../src/surface/define-members.ts";
import { kChannel } from "../../../src/surface/implement-surface.ts";
import { listeners, openLive, settle, until } from "../support.ts";
import { Pushed } from "./pushed.ts";
import { operationsOf } from "../uses-of.ts";

const bell = defineSurface("bell", { rang: event({ output: z.number() }) });
const byRoom = defineSurface("rooms", { rang: event({ input: z.object({ room: z.string() }), output: z.number() }) });

async function openBell() {
  const pushed = new Pushed<number>();
  const { live, client, faults } = await openLive(bell, { rang: (_input, { signal }) => pushed.run(signal) });
  await settle();
  const uses = operationsOf(live[kChannel]);
  const watch = (signal?: AbortSignal): AsyncIterator<unknown> =>
    uses.watchRecent("rang", undefined, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
  return { live, client, faults, pushed, watch };
}

const page = (...occurrences: number[]) => ({ done: false, value: { cursor: expect.any(String), occurrences } });

afterEach(() => {
  vi.useRealTimers();
});

describe("watchRecent()", () => {
  it("gives what is kept at once, then the same after each further occurrence, skipping to the newest", async () => {
    const { client, pushed, watch, live } = await openBell();
    const values = watch();
    expect(await values.next()).toEqual(page());
    pushed.push(1);
    expect(await values.next()).toEqual(page(1));
    for (const occurrence of [2, 3, 4]) pushed.push(occurrence);
    await settle();
    const last = await values.next();
    expect(last).toEqual(page(1, 2, 3, 4));
    expect(last.value).toEqual(await client.rang.recent());
    expect(pushed.opened).toBe(1);
    await live.close();
  });

  it("has what was said when it was called in its first page", async () => {
    const { pushed, watch, live } = await openBell();
    pushed.push(1);
    expect(await watch().next()).toEqual(page(1));
    await live.close();
  });

  it("goes on, and says nothing more, when the handler has ended; does not start it; hears of one that a wait started", async () => {
    const { client, pushed, watch, live } = await openBell();
    pushed.push(1);
    pushed.end();
    await settle();
    const values = watch();
    expect(await values.next()).toEqual(page(1));
    let hasMore = false;
    const next = values.next().finally(() => (hasMore = true));
    await settle();
    expect([pushed.opened, hasMore]).toEqual([1, false]);
    const waiting = client.rang.wait();
    await until(() => pushed.running === 1);
    pushed.push(2);
    expect(await next).toEqual(page(1, 2));
    await waiting;
    await live.close();
  });

  it("goes on when the handler fails, and hears of what it says once it is started again", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { faults, pushed, watch, live } = await openBell();
    const values = watch();
    await values.next();
    const next = values.next();
    await settle();
    pushed.fail(new Error("secret"));
    await settle();
    expect([pushed.running, faults.length]).toEqual([0, 1]);
    vi.advanceTimersByTime(100);
    await until(() => pushed.running === 1);
    pushed.push(1);
    expect(await next).toEqual(page(1));
    await live.close();
  });

  it("ends when its signal fires, by return() and when the surface closes, and leaves no listener", async () => {
    const { pushed, watch, live } = await openBell();
    const controller = new AbortController();
    const [aborted, returned, closed] = [watch(controller.signal), watch(), watch()];
    await Promise.all([aborted.next(), returned.next(), closed.next()]);
    const waiting = [aborted.next(), returned.next(), closed.next()];
    await settle();
    controller.abort();
    await returned.return?.();
    expect(pushed.running).toBe(1);
    await live.close();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 3 }, () => ({ done: true, value: undefined })));
    expect([listeners(controller.signal), pushed.running]).toEqual([0, 0]);
  });

  it("validates its input, and keeps a feed that is watched however many others are used", async () => {
    const { live, client } = await openLive(byRoom, {
      rang: async function* ({ room }, { signal }) {
        yield room.length;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    const watch = (room: unknown) =>
      operationsOf(live[kChannel]).watchRecent("rang", { room }, {})[Symbol.asyncIterator]();
    await expect(watch(5).next()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const values = watch("abc");
    const first = await values.next();
    expect(first).toEqual(page(3));
    for (let room = 0; room < 100; room += 1) await client.rang.recent({ room: `${room}` });
    expect(await client.rang.recent({ room: "abc" })).toEqual(first.value);
    await live.close();
  });
});

describe("an event whose handler fails", () => {
  const handlerThatFails = () => {
    let runs = 0;
    const rang = (): AsyncIterable<number> => {
      runs += 1;
      throw new Error("down");
    };
    return { rang, runs: () => runs };
  };

  async function pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await settle();
  }

  it("is started again by itself after delays that grow to a cap, and no longer once the surface has closed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { rang, runs } = handlerThatFails();
    const { live, faults } = await openLive(bell, { rang });
    await settle();
    expect(runs()).toBe(1);
    for (const [index, delay] of [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000].entries()) {
      await pass(delay - 1);
      expect(runs()).toBe(index + 1);
      await pass(1);
      expect(runs()).toBe(index + 2);
    }
    expect(faults).toHaveLength(runs());
    await live.close();
    expect(vi.getTimerCount()).toBe(0);
    await pass(60_000);
    expect(runs()).toBe(10);
    vi.restoreAllMocks();
  });

  it("is started again after the first delay when it had run for long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { pushed, live } = await openBell();
    for (const delay of [100, 200]) {
      pushed.fail(new Error("down"));
      await settle();
      await pass(delay);
    }
    expect(pushed.running).toBe(1);
    await pass(5000);
    pushed.fail(new Error("down"));
    await settle();
    await pass(100);
    expect(pushed.running).toBe(1);
    await live.close();
    vi.restoreAllMocks();
  });

  it("keeps what it said, is started by the next use before its time, and only once", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { client, pushed, live } = await openBell();
    pushed.push(1);
    await settle();
    pushed.fail(new Error("down"));
    await settle();
    expect((await client.rang.recent()).occurrences).toEqual([1]);
    expect([pushed.opened, pushed.running]).toEqual([2, 1]);
    await pass(10_000);
    expect([pushed.opened, pushed.running]).toEqual([2, 1]);
    expect(vi.getTimerCount()).toBe(0);
    await live.close();
  });

  it("is not started again when it has ended, nor when its ring was given up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const ended = await openBell();
    ended.pushed.end();
    await pass(60_000);
    expect(ended.pushed.opened).toBe(1);
    await ended.live.close();

    const started: string[] = [];
    const { client, live } = await openLive(byRoom, {
      rang: async function* ({ room }, { signal }) {
        started.push(room);
        if (room === "broken") throw new Error("down");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield 1;
      },
    });
    await client.rang.recent({ room: "broken" });
    for (let room = 0; room < 64; room += 1) await client.rang.recent({ room: `${room}` });
    await pass(60_000);
    expect(started.filter((room) => room === "broken")).toHaveLength(1);
    await live.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
