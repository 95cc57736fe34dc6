import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inProcess } from "../../src/links/in-process.ts";
import { cell, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { kScope } from "../../src/surface/implement-surface.ts";
import { listeners, openLive, settle, WatchedSource } from "./support.ts";

const surface = defineSurface("s", {
  value: cell({ schema: z.number() }),
  frames: stream({ output: z.object({ filler: z.string() }) }),
  rang: event({ output: z.number() }),
  run: procedure({ input: z.number(), output: z.number() }),
});

async function openAll() {
  const source = new WatchedSource(0);
  const opened = await openLive(surface, {
    value: source,
    frames: async function* (_input, { signal }) {
      for (let count = 0; !signal.aborted; count += 1) {
        yield { filler: `${count}`.padEnd(1000, "x") };
        if (count % 100 === 0) await settle(1);
      }
    },
    rang: async function* (_input, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield 1;
    },
    // Takes the signal in every way: asked for, kept, listened to.
    run: async (input, { signal, progress }) => {
      progress(1);
      return signal.aborted ? -1 : input;
    },
  });
  return { ...opened, source };
}

setFlagsFromString("--expose-gc");
// The flag was not given when the process started; a new context sees it.
const collect = runInNewContext("gc") as () => void;

async function heapAfterGc(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await settle();
    collect();
  }
  return process.memoryUsage().heapUsed;
}

describe("the leaks of a live surface", () => {
  it("ten thousand calls, waits and watches leave no listener on long-lived signals, and no memory", async () => {
    const { client, live, source } = await openAll();
    const { signal } = new AbortController();
    const round = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        expect(await client.run.call(index, { signal })).toBe(index);
        const watch = client.value.watch({ signal })[Symbol.asyncIterator]();
        await watch.next();
        await watch.return?.();
        if (index % 10 === 0) await client.rang.wait(undefined, { signal, timeoutMs: 0 });
        if (index % 200 === 0) await settle(1);
      }
    };
    await round(1000);
    const before = await heapAfterGc();
    await round(10_000);
    const after = await heapAfterGc();
    expect(listeners(signal)).toBe(0);
    expect([source.active, source.subscribed - source.unsubscribed]).toEqual([0, 0]);
    // The shared frames and the event run on: one each, and the connection.
    expect(listeners(live[kScope].signal)).toBe(1);
    expect(after - before).toBeLessThan(2_000_000);
    await live.close();
    expect(listeners(live[kScope].signal)).toBe(0);
  }, 60_000);

  it("ten thousand watches at once leave nothing when they end by one signal", async () => {
    const { client, live, source } = await openAll();
    const controller = new AbortController();
    const watches = Array.from({ length: 10_000 }, () =>
      client.value.watch({ signal: controller.signal })[Symbol.asyncIterator](),
    );
    await Promise.all(watches.map((watch) => watch.next()));
    expect([source.active, listeners(controller.signal)]).toEqual([10_000, 1]);
    const waiting = watches.map((watch) => watch.next());
    controller.abort();
    expect((await Promise.all(waiting)).every((step) => step.done === true)).toBe(true);
    expect([source.active, source.unsubscribed, listeners(controller.signal)]).toEqual([0, 10_000, 0]);
    await live.close();
  });

  it("ten thousand connections that come and go leave nothing in the live surface", async () => {
    const { live } = await openAll();
    const round = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const connection = await inProcess(live).connect(surface);
        await connection.client.run.call(index);
        await connection.close();
        if (index % 200 === 0) await settle(1);
      }
    };
    await round(1000);
    const before = await heapAfterGc();
    await round(10_000);
    expect((await heapAfterGc()) - before).toBeLessThan(2_000_000);
    await live.close();
  }, 60_000);

  it("a long iteration keeps none of the frames that it has yielded", async () => {
    const { client, live } = await openAll();
    const frames = client.frames.open()[Symbol.asyncIterator]();
    for (let count = 0; count < 1000; count += 1) await frames.next();
    const before = await heapAfterGc();
    for (let count = 0; count < 20_000; count += 1) await frames.next();
    const after = await heapAfterGc();
    // 20,000 frames of 1,000 characters each are 20 MB.
    expect(after - before).toBeLessThan(5_000_000);
    await frames.return?.();
    await live.close();
  }, 60_000);
});
