import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { noteRejections, openLive, settle, take } from "../support.ts";
import { fail, failureOf, step } from "./pushed.ts";

const counter = defineSurface("counter", { value: cell({ schema: z.number() }) });

/** A live cell of numbers whose iterable a test makes. */
function openIterable(iterable: AsyncIterable<number>) {
  return openLive(counter, { value: iterable });
}

// oxlint-disable-next-line unicorn/no-thenable -- a thenable that fails is what it is for
const failingThenable: object = { then: fail };

/** Throws a proxy that throws at every question. */
function failUnseen(): never {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  // oxlint-disable-next-line typescript/only-throw-error -- authors may throw anything
  throw proxy;
}

/** An iterable that is made of an iterator's parts. */
function iterableOf(parts: object): AsyncIterable<number> {
  return { [Symbol.asyncIterator]: () => parts as AsyncIterator<number> };
}

describe("a cell of an async iterable", () => {
  it("each first reader opens it anew", async () => {
    let opened = 0;
    const { client } = await openIterable({
      async *[Symbol.asyncIterator]() {
        opened += 1;
        yield opened;
        await new Promise(() => {});
      },
    });
    expect(await client.value.get()).toBe(1);
    expect(await client.value.get()).toBe(2);
  });

  it("its last value stands for good, and it is not opened again, when it ends", async () => {
    let opened = 0;
    const { client } = await openIterable({
      async *[Symbol.asyncIterator]() {
        opened += 1;
        yield 1;
        yield 2;
      },
    });
    const values = step(client.value.readings());
    await values.next();
    await settle();
    expect(await client.value.reading()).toEqual({ value: 2 });
    await values.leave();
    expect(await client.value.reading()).toEqual({ value: 2 });
    expect(await take(client.value.watch(), 1)).toEqual([2]);
    expect(opened).toBe(1);
  });

  it("readers are answered at once that there is nothing when it ended without a value", async () => {
    const { client } = await openIterable({ async *[Symbol.asyncIterator]() {} });
    expect(await failureOf(client.value.get())).toMatchObject({ code: "ABSENT" });
    expect(await failureOf(client.value.get())).toMatchObject({ code: "ABSENT" });
    await expect(take(client.value.watch(), 1)).rejects.toMatchObject({ code: "ABSENT" });
  });

  it("a generator, which can be opened once, goes on from its first reader until the surface closes", async () => {
    let give: (value: number) => void = () => {};
    let isOver = false;
    async function* count(): AsyncGenerator<number> {
      try {
        yield 1;
        for (;;) yield await new Promise<number>((resolve) => (give = resolve));
      } finally {
        isOver = true;
      }
    }
    const { client, live } = await openIterable(count());
    expect(await client.value.get()).toBe(1);
    await settle();
    expect(await client.value.reading()).toEqual({ value: 1 });
    give(2);
    await settle();
    expect(await client.value.reading()).toEqual({ value: 2 });
    const values = step(client.value.readings());
    expect(await values.next()).toEqual({ value: 2 });
    await values.leave();
    give(3);
    await settle();
    expect(await client.value.reading()).toEqual({ value: 3 });
    expect(isOver).toBe(false);
    const closing = live.close();
    give(4);
    await closing;
    expect(isOver).toBe(true);
  });

  it("a generator is not started by nobody, and its value stands for good when it ends", async () => {
    let started = 0;
    async function* count(): AsyncGenerator<number> {
      started += 1;
      yield 1;
      yield 2;
    }
    const { client } = await openIterable(count());
    await settle();
    expect(started).toBe(0);
    await client.value.get();
    await settle();
    expect(await client.value.reading()).toEqual({ value: 2 });
  });

  it("one that never waits keeps nothing else from running", async () => {
    const { client, live } = await openIterable({
      async *[Symbol.asyncIterator]() {
        for (let count = 0; ; count += 1) yield count;
      },
    });
    const values = step(client.value.watch());
    await values.next();
    await settle(10);
    expect(await client.value.get()).toBeGreaterThan(0);
    await values.leave();
    await live.close();
  });

  it.each([
    ["cannot be opened", { [Symbol.asyncIterator]: fail }],
    ["is opened to nothing", { [Symbol.asyncIterator]: () => undefined }],
    ["has no next()", iterableOf({})],
    ["throws from next()", iterableOf({ next: fail })],
    ["rejects next()", iterableOf({ next: async () => fail() })],
    ["throws what cannot be looked at", iterableOf({ next: failUnseen })],
    ["answers next() with nothing", iterableOf({ next: () => null })],
    ["answers next() with a thenable that throws", iterableOf({ next: () => failingThenable })],
    [
      "answers with what throws when it is looked at",
      iterableOf({
        next: () => ({
          get done(): boolean {
            return fail();
          },
        }),
      }),
    ],
  ])("get() is masked, and nothing is left behind, when it %s", async (_what, iterable) => {
    const rejections = noteRejections();
    const { client, faults, live } = await openIterable(iterable as AsyncIterable<number>);
    const failure = await failureOf(client.value.get());
    expect(failure).toMatchObject({ code: "INTERNAL" });
    expect(String(failure)).not.toContain("secret");
    expect(faults).toHaveLength(1);
    await live.close();
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it.each([
    ["throws", fail],
    ["rejects", async () => fail()],
    ["is no function", 5],
    ["is a thenable that throws", () => failingThenable],
  ])("the value is told, and the fault reported, when its return() %s", async (_what, end) => {
    const rejections = noteRejections();
    const next = async () => ({ done: false, value: 1 });
    const { client, faults, live } = await openIterable(iterableOf({ next, return: end }));
    expect(await client.value.get()).toBe(1);
    await settle();
    expect(faults).toHaveLength(1);
    expect(await client.value.get()).toBe(1);
    await live.close();
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it("the next reader is served, and close() ends, when the return() of the one before never settles", async () => {
    const hanging = { next: async () => ({ done: false, value: 1 }), return: () => new Promise(() => {}) };
    const { client, live } = await openIterable(iterableOf(hanging));
    expect(await client.value.get()).toBe(1);
    expect(await client.value.get()).toBe(1);
    await live.close();
  });

  it("its watcher may leave, and close() ends, while a generator waits for what does not come", async () => {
    const { client, live } = await openIterable({
      async *[Symbol.asyncIterator]() {
        yield 1;
        await new Promise(() => {});
      },
    });
    const left = step(client.value.watch());
    expect(await left.next()).toBe(1);
    await settle();
    await left.leave();
    const values = step(client.value.watch());
    expect(await values.next()).toBe(1);
    await settle();
    await live.close();
  });
});
