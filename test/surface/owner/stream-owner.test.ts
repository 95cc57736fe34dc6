import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { stream } from "../../../src/surface/define-members.ts";
import { listeners, openLive, schemaOf, settle, take, until } from "../support.ts";
import { Pushed } from "./pushed.ts";

const log = defineSurface("log", { lines: stream({ output: z.number() }) });
const logOf = defineSurface("log", {
  lines: stream({ input: z.object({ from: z.number().default(1) }), output: z.number() }),
});

async function openLog() {
  const pushed = new Pushed<number>();
  const opened = await openLive(log, { lines: (_input, { signal }) => pushed.run(signal) });
  // The shared iteration of a stream without input runs from the start.
  await until(() => pushed.running === 1);
  return { ...opened, pushed };
}

/** Lets half a minute pass for those who wait for it, and for nobody else. */
const idleMs = 30_000;

async function rest(ms = idleMs): Promise<void> {
  vi.advanceTimersByTime(ms);
  await settle();
}

afterEach(() => {
  vi.useRealTimers();
});

/** Answers the first ask with 1 and never another, and ignores its signal and `return()`. */
async function* deaf(): AsyncGenerator<number> {
  yield 1;
  await new Promise(() => {});
}

describe("a stream", () => {
  it("open() gives each listener its own iteration, every frame in order, when one is slow", async () => {
    const { client } = await openLive(logOf, {
      lines: async function* ({ from }) {
        for (let line = from; line < from + 1000; line += 1) yield line;
      },
    });
    const slow = (async () => {
      const seen: number[] = [];
      for await (const line of client.lines.open({})) {
        seen.push(line);
        if (line % 100 === 0) await settle(1);
      }
      return seen;
    })();
    const fast = take(client.lines.open({ from: 5 }), 10);
    expect(await slow).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(await fast).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  it("open() runs the handler's finally when its consumer leaves, and waits for it", async () => {
    const { client, pushed } = await openLog();
    const values = client.lines.open();
    const taken = take(values, 2);
    await until(() => pushed.running === 2);
    pushed.push(1);
    pushed.push(2);
    expect(await taken).toEqual([1, 2]);
    expect([pushed.opened, pushed.running]).toEqual([2, 1]);
  });

  it("open() ends its consumer at once and tells the handler when the signal fires, whoever is waiting", async () => {
    const { client, pushed } = await openLog();
    const controllers = [new AbortController(), new AbortController()];
    const [busy, idle] = controllers.map(({ signal }) =>
      client.lines.open(undefined, { signal })[Symbol.asyncIterator](),
    ) as [AsyncIterator<number>, AsyncIterator<number>];
    const first = Promise.all([busy.next(), idle.next()]);
    await until(() => pushed.running === 3);
    pushed.push(1);
    await first;
    const waiting = [busy.next(), busy.next()];
    await settle();
    for (const controller of controllers) controller.abort();
    // One is asked and one is not: both handlers end.
    await until(() => pushed.running === 1);
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(await idle.next()).toEqual({ done: true, value: undefined });
    expect(controllers.map(({ signal }) => listeners(signal))).toEqual([0, 0]);
  });

  it("open() ends its consumer at once when the handler ignores the signal; only return() waits for it", async () => {
    const { client } = await openLive(log, { lines: deaf });
    const controller = new AbortController();
    const iterator = client.lines.open(undefined, { signal: controller.signal })[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    let returned = false;
    void iterator.return?.().then(() => (returned = true));
    await settle();
    expect(returned).toBe(false);
  });

  it("open() does not start the handler when its listener left while the input was checked", async () => {
    let accept = (_result: { value: unknown }): void => {};
    const input = schemaOf(() => new Promise((resolve) => (accept = resolve)));
    let started = false;
    const surface = defineSurface("s", { lines: stream({ input, output: z.number() }) });
    const { client, live } = await openLive(surface, {
      lines: () => {
        started = true;
        return deaf();
      },
    });
    const controller = new AbortController();
    const iterator = client.lines.open({}, { signal: controller.signal })[Symbol.asyncIterator]();
    const waiting = iterator.next();
    await settle();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    accept({ value: {} });
    await settle();
    await live.close();
    expect(started).toBe(false);
  });

  it("open() opens the handler once when two values are asked for at once", async () => {
    const { client, pushed } = await openLog();
    const iterator = client.lines.open()[Symbol.asyncIterator]();
    const both = Promise.all([iterator.next(), iterator.next()]);
    await until(() => pushed.running === 2);
    pushed.push(1);
    pushed.push(2);
    expect((await both).map((step) => step.value)).toEqual([1, 2]);
    await settle();
    expect(pushed.opened).toBe(2);
    await iterator.return?.();
  });

  it("open() starts nothing and holds nothing when it is never iterated", async () => {
    const { client, pushed } = await openLog();
    const { signal } = new AbortController();
    client.lines.open(undefined, { signal });
    await settle();
    expect([pushed.opened, listeners(signal)]).toEqual([1, 0]);
  });

  it("open() fails, masked, and is over, when the handler fails, an input does not fit, or a frame does not", async () => {
    const { client, pushed, faults } = await openLog();
    const failing = client.lines.open()[Symbol.asyncIterator]();
    const waiting = failing.next();
    await until(() => pushed.running === 2);
    pushed.fail(new Error("secret"));
    await expect(waiting).rejects.toMatchObject({ code: "INTERNAL" });
    expect(await failing.next()).toEqual({ done: true, value: undefined });
    expect(faults.length).toBeGreaterThan(0);

    const wrong = client.lines.open()[Symbol.asyncIterator]();
    const frame = wrong.next();
    await until(() => pushed.running === 1);
    pushed.push("secret" as never);
    await expect(frame).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    expect(await wrong.next()).toEqual({ done: true, value: undefined });
    expect(pushed.running).toBe(0);

    const other = await openLive(logOf, { lines: deaf });
    await expect(take(other.client.lines.open({ from: "x" as never }), 1)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("open() takes iterables written by hand, without return() or with one that throws", async () => {
    let returned = 0;
    const count = { next: async () => ({ done: false as const, value: 1 }) };
    const plain = await openLive(log, { lines: () => ({ [Symbol.asyncIterator]: () => count }) });
    expect(await take(plain.client.lines.open(), 2)).toEqual([1, 1]);
    await plain.live.close();
    const throwing = {
      ...count,
      return: () => {
        returned += 1;
        throw new Error("secret");
      },
    };
    const { client, faults, live } = await openLive(log, { lines: () => ({ [Symbol.asyncIterator]: () => throwing }) });
    expect(await take(client.lines.open(), 1)).toEqual([1]);
    await live.close();
    expect(returned).toBe(2);
    expect(faults.map((fault) => fault.cause)).toEqual([new Error("secret"), new Error("secret")]);
  });

  it("close() waits for the finally of every handler, asked or idle", async () => {
    let finished = 0;
    const { client, live } = await openLive(log, {
      lines: async function* (_input, { signal }) {
        try {
          yield 1;
          await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        } finally {
          await settle();
          finished += 1;
        }
      },
    });
    const [idle, busy] = [client.lines.open(), client.lines.open()].map((values) => values[Symbol.asyncIterator]());
    await Promise.all([idle?.next(), busy?.next()]);
    const waiting = busy?.next();
    await settle();
    await live.close();
    expect(finished).toBe(3);
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it("latest() answers the newest frame of one shared iteration, and waits for the first", async () => {
    const { client, pushed } = await openLog();
    const waiting = [client.lines.latest(), client.lines.latest()];
    await settle();
    pushed.push(1);
    expect(await Promise.all(waiting)).toEqual([1, 1]);
    pushed.push(2);
    pushed.push(3);
    await settle();
    expect(await client.lines.latest()).toBe(3);
    expect(pushed.opened).toBe(1);
  });

  it("latest() says absent when the stream ended without a frame, and gives the last frame when it had one", async () => {
    const none = await openLive(logOf, { lines: async function* () {} });
    await expect(none.client.lines.latest({})).rejects.toMatchObject({ code: "ABSENT" });
    const { client } = await openLive(logOf, {
      lines: async function* ({ from }) {
        yield from;
        yield from + 1;
      },
    });
    await client.lines.latest({});
    await settle();
    expect(await client.lines.latest({})).toBe(2);
  });

  it("latest() ends when its caller cancels, the surface closes or the handler fails", async () => {
    const { client, live, pushed } = await openLog();
    const controller = new AbortController();
    const cancelled = client.lines.latest(undefined, { signal: controller.signal });
    const failed = client.lines.latest();
    const outcomes = Promise.allSettled([cancelled, failed]);
    await settle();
    controller.abort();
    await settle();
    pushed.fail(new Error("secret"));
    expect(await outcomes).toMatchObject([{ reason: { code: "ABORTED" } }, { reason: { code: "INTERNAL" } }]);
    await settle();
    const closed = Promise.allSettled([client.lines.latest()]);
    await settle();
    await live.close();
    expect(await closed).toMatchObject([{ reason: { code: "CLOSED" } }]);
    expect(listeners(controller.signal)).toBe(0);
  });

  it("latest() puts the handler to rest half a minute after its last use, asked or never asked", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { live, pushed } = await openLog();
    await rest(idleMs - 1);
    expect(pushed.running).toBe(1);
    await rest(1);
    expect([pushed.running, pushed.aborted, pushed.finished]).toEqual([0, 1, 1]);
    await live.close();

    const asked = await openLog();
    const waiting = asked.client.lines.latest();
    await rest(10 * idleMs);
    expect(asked.pushed.running).toBe(1);
    asked.pushed.push(1);
    expect(await waiting).toBe(1);
    await rest(idleMs - 1);
    expect(await asked.client.lines.latest()).toBe(1);
    await rest(idleMs - 1);
    expect(asked.pushed.running).toBe(1);
    await rest(1);
    expect(asked.pushed.running).toBe(0);
    await asked.live.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("latest() starts a handler at rest anew and waits for its first frame, also while the one before ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { client, pushed, live } = await openLog();
    pushed.push(1);
    await settle();
    vi.advanceTimersByTime(idleMs);
    const waiting = [client.lines.latest(), client.lines.latest()];
    await until(() => pushed.opened === 2 && pushed.running === 1);
    pushed.push(2);
    expect(await Promise.all(waiting)).toEqual([2, 2]);
    expect(await client.lines.latest()).toBe(2);
    expect(pushed.opened).toBe(2);
    await live.close();
  });

  it("latest() answers the run that it starts, and never a frame of the one before", async () => {
    let text = "";
    const { client } = await openLive(defineSurface("texts", { lines: stream({ output: z.string() }) }), {
      async *lines() {
        if (text === "") return;
        yield `first of ${text}`;
        yield `last of ${text}`;
      },
    });
    const found: unknown[] = [];
    for (text of ["one", "two", "three"]) found.push(await client.lines.latest());
    expect(found).toEqual(["last of one", "last of two", "last of three"]);
    text = "";
    await expect(client.lines.latest()).rejects.toMatchObject({ code: "ABSENT" });
  });

  it.each([
    ["never waits for anything", () => null],
    ["lets other work run between its frames", () => new Promise((resolve) => setImmediate(resolve))],
  ])("latest() answers while the handler goes on without a pause, when it %s", async (_how, pause) => {
    const { client } = await openLive(logOf, {
      lines: async function* ({ from }, { signal }) {
        for (let line = from; !signal.aborted; line += 1) {
          yield line;
          await pause();
        }
      },
    });
    const first = await client.lines.latest({});
    expect(await client.lines.latest({})).toBeGreaterThan(first);
  });

  it("latest() says absent when the handler, started again after a rest, now ends without a frame", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { client, pushed, live } = await openLog();
    pushed.push(1);
    await settle();
    await rest();
    const controller = new AbortController();
    const ended = client.lines.latest();
    const cancelled = Promise.allSettled([client.lines.latest(undefined, { signal: controller.signal })]);
    await until(() => pushed.running === 1);
    controller.abort();
    expect(await cancelled).toMatchObject([{ reason: { code: "ABORTED" } }]);
    pushed.end();
    await expect(ended).rejects.toMatchObject({ code: "ABSENT" });
    await live.close();
  });

  it("close() waits for a handler that was put to rest and has not ended", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let release = (): void => {};
    let finished = false;
    const { live } = await openLive(log, {
      lines: async function* (_input, { signal }) {
        try {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          yield 1;
        } finally {
          await new Promise<void>((resolve) => (release = resolve));
          finished = true;
        }
      },
    });
    await settle();
    await rest();
    let closed = false;
    const closing = live.close().then(() => (closed = true));
    await settle();
    expect([closed, finished]).toEqual([false, false]);
    release();
    await closing;
    expect(finished).toBe(true);
  });
});
