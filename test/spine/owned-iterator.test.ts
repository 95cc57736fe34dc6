import { describe, expect, it } from "vitest";
import { OwnedIterator } from "../../src/spine/owned-iterator.ts";
import { Scope } from "../../src/spine/scope.ts";

const ended = { done: true, value: undefined };

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** An iterable by hand that counts, and whose `return()` a test lets through. */
class Counted implements AsyncIterableIterator<number> {
  given = 0;
  returned = 0;
  finish = (): void => {};

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<number>> {
    this.given += 1;
    return { done: false, value: this.given };
  }

  async return(): Promise<IteratorResult<number>> {
    this.returned += 1;
    await new Promise<void>((resolve) => (this.finish = resolve));
    return { done: true, value: undefined };
  }
}

describe("OwnedIterator", () => {
  it("next() opens once and returns each value as check() makes it, in order", async () => {
    const scope = new Scope("it");
    let opened = 0;
    const open = (): Counted => {
      opened += 1;
      return new Counted();
    };
    const check = async (value: number): Promise<number> => (await tick(), value * 10);
    const iterator = new OwnedIterator({ open, check, scope, signal: undefined });
    expect(opened).toBe(0);
    const steps = await Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    expect(steps.map((step) => step.value)).toEqual([10, 20, 30]);
    expect(opened).toBe(1);
    expect(iterator[Symbol.asyncIterator]()).toBe(iterator);
  });

  it.each([
    ["rejects with the error of values that were cut off", new Error("cut")],
    ["is done when values end by themselves", undefined],
  ])("next() %s, and tells once that it is over", async (_what, cut) => {
    let over = 0;
    const open = async function* () {
      yield 1;
    };
    const deps = { open, cut: () => cut, over: () => void (over += 1), signal: undefined };
    const iterator = new OwnedIterator(deps);
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    expect(over).toBe(0);
    expect(await iterator.next().catch((cause: unknown) => cause)).toEqual(cut ?? ended);
    expect(await iterator.next()).toEqual(ended);
    await iterator.return();
    expect(over).toBe(1);
  });

  it("return() tells that it is over after the maker was told, and a consumer that leaves is not cut off", async () => {
    const told: string[] = [];
    const counted = new Counted();
    const iterator = new OwnedIterator({
      open: () => counted,
      cut: () => new Error("cut"),
      over: () => void told.push(`over after ${counted.returned}`),
      signal: undefined,
    });
    await iterator.next();
    const leaving = iterator.return();
    expect(told).toEqual(["over after 1"]);
    counted.finish();
    expect(await leaving).toEqual(ended);
    expect(told).toHaveLength(1);
  });

  it("next() opens nothing when the consumer has left before, which is over", async () => {
    let over = 0;
    const open = (): never => expect.unreachable();
    const iterator = new OwnedIterator({ open, over: () => void (over += 1), signal: undefined });
    expect(await iterator.return()).toEqual(ended);
    expect(await iterator.next()).toEqual(ended);
    expect(over).toBe(1);
  });

  it("return() and close() wait for the maker's own return(), which is called once", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    const iterator = new OwnedIterator({ open: () => counted, scope, signal: undefined });
    await iterator.next();
    const done: string[] = [];
    const all = [
      iterator.return().then(() => done.push("return")),
      iterator.return().then(() => done.push("again")),
      scope.close().then(() => done.push("close")),
    ];
    await tick();
    expect(done).toEqual([]);
    expect(await iterator.next()).toEqual(ended);
    counted.finish();
    await Promise.all(all);
    expect(counted.returned).toBe(1);
  });

  it("an iterator that opens after its consumer left is returned unread, and a closing scope waits for it", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    let arrive = (_values: Counted): void => {};
    const open = (): Promise<Counted> => new Promise((resolve) => (arrive = resolve));
    const iterator = new OwnedIterator({ open, scope, signal: undefined });
    const waiting = iterator.next();
    await tick();
    await iterator.return();
    expect(await waiting).toEqual(ended);
    arrive(counted);
    await tick();
    expect([counted.given, counted.returned]).toEqual([0, 1]);
    let closed = false;
    const closing = scope.close().then(() => (closed = true));
    await tick();
    expect(closed).toBe(false);
    counted.finish();
    await closing;
  });

  it("next() is over at once when its scope is closed or its signal has fired, and opens nothing", async () => {
    const scope = new Scope("it");
    let opened = 0;
    const open = (): Counted => {
      opened += 1;
      return new Counted();
    };
    expect(await new OwnedIterator({ open, scope, signal: AbortSignal.abort() }).next()).toEqual(ended);
    void scope.close();
    expect(await new OwnedIterator({ open, scope, signal: undefined }).next()).toEqual(ended);
    expect(opened).toBe(0);
  });

  it("next() rejects with the error of open() as it is and with masked errors of the iteration, and ends after either", async () => {
    const scope = new Scope("it");
    const mask = (cause: unknown): Error => new Error(`masked ${String(cause)}`);
    const failing = new OwnedIterator({
      open: () => Promise.reject(new Error("refused")),
      mask,
      scope,
      signal: undefined,
    });
    await expect(failing.next()).rejects.toThrow(/^refused$/);
    expect(await failing.next()).toEqual(ended);
    const next = (): Promise<never> => Promise.reject(new Error("broken"));
    const opens = [() => ({ [Symbol.asyncIterator]: () => ({ next }) }), () => ({}) as AsyncIterable<number>];
    for (const open of opens) {
      const iterator = new OwnedIterator<number>({ open, mask, scope, signal: undefined });
      await expect(iterator.next()).rejects.toThrow("masked");
      expect(await iterator.next()).toEqual(ended);
    }
    await scope.close();
  });

  it("reads a value when its consumer wants one and the value before it was checked", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    const checks: ((value: number) => void)[] = [];
    const check = (): Promise<number> => new Promise((resolve) => checks.push(resolve));
    const iterator = new OwnedIterator({ open: () => counted, check, scope, signal: undefined });
    const steps = [iterator.next(), iterator.next()];
    await tick();
    expect(counted.given).toBe(1);
    checks.shift()?.(10);
    await tick();
    expect(counted.given).toBe(2);
    checks.shift()?.(20);
    expect(await Promise.all(steps)).toEqual([10, 20].map((value) => ({ done: false, value })));
    await tick();
    expect(counted.given).toBe(2);
  });

  it("goes on with an iteration that was begun before it was handed over", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    const opened: Counted[] = [];
    const open = (): Counted => {
      opened.push(counted);
      return counted;
    };
    const begun = new OwnedIterator({ open, scope, signal: undefined });
    expect(await begun.next()).toEqual({ done: false, value: 1 });
    const iterator = new OwnedIterator({ open: () => begun, scope, signal: undefined });
    expect(await iterator.next()).toEqual({ done: false, value: 2 });
    const returning = iterator.return();
    await tick();
    counted.finish();
    await returning;
    expect([opened.length, counted.given, counted.returned]).toEqual([1, 2, 1]);
  });

  it("return() waits for an iterator within another one that the same signal has ended", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    const controller = new AbortController();
    const { signal } = controller;
    const inner = new OwnedIterator({ open: () => counted, scope, signal });
    const outer = new OwnedIterator({ open: () => inner, scope, signal });
    await outer.next();
    const waiting = outer.next();
    controller.abort();
    await waiting;
    let hasReturned = false;
    const returning = outer.return().then(() => (hasReturned = true));
    await tick();
    expect([hasReturned, counted.returned]).toEqual([false, 1]);
    counted.finish();
    await returning;
  });

  it("next() waits for the maker's end before it gives the error of check()", async () => {
    const scope = new Scope("it");
    const counted = new Counted();
    const check = (): never => {
      throw new Error("does not fit");
    };
    const iterator = new OwnedIterator({ open: () => counted, check, scope, signal: undefined });
    const outcome = iterator.next().catch((cause: unknown) => cause);
    await tick();
    expect(counted.returned).toBe(1);
    counted.finish();
    expect(await outcome).toEqual(new Error("does not fit"));
  });
});
