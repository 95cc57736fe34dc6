import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { kChannel } from "../../../src/surface/implement-surface.ts";
import { stream } from "../../../src/surface/define-members.ts";
import { listeners, openLive, settle, until } from "../support.ts";
import { Pushed } from "./pushed.ts";
import { operationsOf } from "../uses-of.ts";

const log = defineSurface("log", { lines: stream({ output: z.number() }) });
const logOf = defineSurface("log", { lines: stream({ input: z.object({ node: z.string() }), output: z.number() }) });
const idleMs = 30_000;

function watchOf(values: AsyncIterable<unknown>): AsyncIterator<unknown> {
  return values[Symbol.asyncIterator]();
}

/** A stream without input, whose handler runs from the start. */
async function openLog() {
  const pushed = new Pushed<number>();
  const { live, client, faults } = await openLive(log, { lines: (_input, { signal }) => pushed.run(signal) });
  await until(() => pushed.running === 1);
  const watch = (signal?: AbortSignal): AsyncIterator<unknown> =>
    watchOf(operationsOf(live[kChannel]).watchLatest("lines", undefined, signal === undefined ? {} : { signal }));
  return { live, client, faults, pushed, watch };
}

/** A stream with input: one handler a node. */
async function openLogOf() {
  const pushed = new Pushed<number>();
  const { live, client, faults } = await openLive(logOf, { lines: (_input, { signal }) => pushed.run(signal) });
  const watch = (node: unknown = "a"): AsyncIterator<unknown> =>
    watchOf(operationsOf(live[kChannel]).watchLatest("lines", { node }, {}));
  return { live, client, faults, pushed, watch };
}

async function valueOf(step: Promise<IteratorResult<unknown>>): Promise<unknown> {
  return (await step).value;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("watchLatest()", () => {
  it("gives nothing at once where there is no frame yet, the newest one where there is, then each newer", async () => {
    const { pushed, watch, live } = await openLog();
    const early = watch();
    expect(await valueOf(early.next())).toEqual([]);
    const next = early.next();
    pushed.push(1);
    expect(await valueOf(next)).toEqual([1]);
    const late = watch();
    expect(await valueOf(late.next())).toEqual([1]);
    const both = [early.next(), late.next()];
    pushed.push(2);
    expect(await Promise.all(both.map(valueOf))).toEqual([[2], [2]]);
    expect(pushed.opened).toBe(1);
    await live.close();
  });

  it("skips to the newest frame, and gives the last one, when its watcher is slow", async () => {
    const { pushed, watch, live } = await openLog();
    const values = watch();
    await values.next();
    for (let frame = 1; frame <= 100; frame += 1) pushed.push(frame);
    await settle();
    expect(await valueOf(values.next())).toEqual([100]);
    await live.close();
  });

  it("ends after its last frame when the handler ends, and starts it anew for the next who watches", async () => {
    const { live } = await openLive(logOf, {
      lines: async function* () {
        yield 1;
        yield 2;
      },
    });
    const open = () => operationsOf(live[kChannel]).watchLatest("lines", { node: "a" }, {});
    const seen: unknown[] = [];
    for await (const value of open()) seen.push(value);
    expect([seen[0], seen.at(-1)]).toEqual([[], [2]]);
    const again: unknown[] = [];
    for await (const value of open()) again.push(value);
    expect(again[0]).toEqual([]);
    expect(again.at(-1)).toEqual([2]);
    await live.close();
  });

  it("ends with the iteration that it watches when another is started before it looks", async () => {
    const { pushed, client, watch, live } = await openLogOf();
    const values = watch();
    await values.next();
    pushed.push(1);
    await settle();
    pushed.end();
    await settle();
    const reading = Promise.allSettled([client.lines.latest({ node: "a" })]);
    await until(() => pushed.opened === 2);
    expect(await valueOf(values.next())).toEqual([1]);
    expect(await values.next()).toEqual({ done: true, value: undefined });
    await live.close();
    expect(await reading).toMatchObject([{ reason: { code: "CLOSED" } }]);
  });

  it("fails, masked, after the last frame when the handler fails, whether or not anybody waits just then", async () => {
    const { pushed, faults, watch, live } = await openLogOf();
    const [waiting, busy] = [watch(), watch()];
    await Promise.all([waiting.next(), busy.next()]);
    const failed = Promise.allSettled([waiting.next()]);
    await settle();
    pushed.fail(new Error("secret"));
    expect(await failed).toMatchObject([{ reason: { code: "INTERNAL" } }]);
    await settle();
    await expect(busy.next()).rejects.toMatchObject({ code: "INTERNAL" });
    expect(faults).toHaveLength(1);
    const after = watch();
    expect(await valueOf(after.next())).toEqual([]);
    pushed.push(7);
    await settle();
    pushed.fail(new Error("secret"));
    await settle();
    expect(await valueOf(after.next())).toEqual([7]);
    await expect(after.next()).rejects.toMatchObject({ code: "INTERNAL" });
    await live.close();
  });

  it("refuses an input that does not fit, a member that is none, and one of another kind", async () => {
    const { pushed, watch, live } = await openLogOf();
    await expect(watch(5).next()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(pushed.opened).toBe(0);
    expect(() => operationsOf(live[kChannel]).watchLatest("nope", {}, {})).toThrow(
      expect.objectContaining({ code: "UNKNOWN_MEMBER" }),
    );
    expect(() => operationsOf(live[kChannel]).watchRecent("lines", {}, {})).toThrow(
      expect.objectContaining({ code: "WRONG_KIND" }),
    );
    await live.close();
  });

  it("ends at once when its signal fires, by return() and when the surface closes, and leaves no listener", async () => {
    const { pushed, watch, live } = await openLog();
    const controller = new AbortController();
    const [aborted, returned, closed] = [watch(controller.signal), watch(), watch()];
    await Promise.all([aborted.next(), returned.next(), closed.next()]);
    const waiting = [aborted.next(), returned.next(), closed.next()];
    await settle();
    controller.abort();
    await returned.return?.();
    await live.close();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 3 }, () => ({ done: true, value: undefined })));
    expect([listeners(controller.signal), pushed.running]).toEqual([0, 0]);
  });

  it("shares one handler, started with its first watcher and put to rest at once with its last", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { pushed, watch, live } = await openLogOf();
    await settle();
    expect(pushed.opened).toBe(0);
    const [one, two] = [watch(), watch()];
    await Promise.all([one.next(), two.next()]);
    await until(() => pushed.running === 1);
    await one.return?.();
    vi.advanceTimersByTime(2 * idleMs);
    await settle();
    expect([pushed.opened, pushed.running]).toEqual([1, 1]);
    await two.return?.();
    await settle();
    expect([pushed.running, pushed.aborted, vi.getTimerCount()]).toEqual([0, 1, 0]);
    await live.close();
  });

  it("puts a stream without input to rest at once too when only watchers have used it", async () => {
    const { pushed, watch, live } = await openLog();
    const values = watch();
    await values.next();
    await values.return?.();
    await settle();
    expect([pushed.opened, pushed.running]).toEqual([1, 0]);
    await live.close();
  });

  it("leaves the handler running for a while after the last question, with or without a watcher meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { pushed, client, watch, live } = await openLogOf();
    const values = watch();
    await values.next();
    const asking = client.lines.latest({ node: "a" });
    pushed.push(1);
    expect(await asking).toBe(1);
    vi.advanceTimersByTime(idleMs - 1);
    await values.return?.();
    await settle();
    expect(pushed.running).toBe(1);
    vi.advanceTimersByTime(1);
    await settle();
    expect(pushed.running).toBe(0);

    const [watching, again] = [watch(), client.lines.latest({ node: "a" })];
    await watching.next();
    await until(() => pushed.running === 1);
    pushed.push(2);
    await again;
    // Long enough ago: the watcher is all that keeps it.
    vi.advanceTimersByTime(idleMs);
    await settle();
    expect(pushed.running).toBe(1);
    await watching.return?.();
    await settle();
    expect(pushed.running).toBe(0);
    await live.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("shows no frame that was on its way when the handler was put to rest", async () => {
    const { pushed, watch, live } = await openLogOf();
    for (let turns = 0; turns < 12; turns += 1) {
      const values = watch();
      await values.next();
      await until(() => pushed.running === 1);
      pushed.push(turns);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await values.return?.();
      const next = watch();
      expect(await valueOf(next.next())).toEqual([]);
      await settle();
      const last = watch();
      expect(await valueOf(last.next())).toEqual([]);
      await Promise.all([next.return?.(), last.return?.()]);
      await settle();
    }
    await live.close();
  });

  it("shows no frame of before the rest, also when the handler now ends without another", async () => {
    const { pushed, watch, live } = await openLog();
    pushed.push(1);
    await settle();
    const before = watch();
    expect(await valueOf(before.next())).toEqual([1]);
    await before.return?.();
    await settle();
    const values = watch();
    expect(await valueOf(values.next())).toEqual([]);
    const last = values.next();
    await until(() => pushed.running === 1);
    pushed.end();
    expect(await last).toEqual({ done: true, value: undefined });
    await live.close();
  });
});
