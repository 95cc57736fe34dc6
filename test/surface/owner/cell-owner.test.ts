import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { listeners, noteRejections, openLive, schemaOf, settle, take, until, WatchedSource } from "../support.ts";

const counter = defineSurface("counter", { value: cell({ schema: z.number() }) });

describe("a cell", () => {
  it("get() answers the validated value as it is now when the source changes it in place", async () => {
    const schema = z.object({ n: z.number() }).transform(({ n }) => ({ n, twice: 2 * n }));
    const state = { n: 1 };
    const { client } = await openLive(defineSurface("s", { v: cell({ schema }) }), { v: cellSource(state) });
    expect(await client.v.get()).toEqual({ n: 1, twice: 2 });
    state.n = 2;
    expect(await client.v.get()).toEqual({ n: 2, twice: 4 });
    expect(await take(client.v.watch(), 1)).toEqual([{ n: 2, twice: 4 }]);
    state.n = "secret" as never;
    await expect(client.v.get()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
  });

  it("watch() takes a value that was changed in place for no change", async () => {
    const source = new WatchedSource({ n: 1 });
    const { client } = await openLive(defineSurface("s", { v: cell({ schema: z.object({ n: z.number() }) }) }), {
      v: source,
    });
    const values = client.v.watch()[Symbol.asyncIterator]();
    await values.next();
    const changed = values.next();
    const same = source.get();
    same.n = 2;
    source.set(same);
    await settle();
    source.set({ n: 3 });
    expect(await changed).toEqual({ done: false, value: { n: 3 } });
  });

  it("get() refuses a value that breaks its schema, and tells only the log when it does", async () => {
    const { client, faults } = await openLive(counter, { value: cellSource("secret" as never) });
    const failure = await client.value.get().catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: "INVALID_OUTPUT", issues: [], correlationId: faults[0]?.correlationId });
    expect(String(failure)).not.toContain("secret");
    expect(faults[0]).toMatchObject({ where: 'cell "value"', cause: { code: "INVALID_OUTPUT" } });
  });

  it("get() masks what the source throws, and works again when the source does", async () => {
    const source = new WatchedSource(1);
    source.onGet = () => {
      throw new Error("secret path /etc");
    };
    const { client, faults } = await openLive(counter, { value: source });
    const failure = await client.value.get().catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: "INTERNAL" });
    expect(String(failure)).not.toContain("secret");
    expect(faults).toHaveLength(1);
    source.onGet = undefined;
    expect(await client.value.get()).toBe(1);
  });

  it.each([z.number(), z.unknown()])("get() reports what an asynchronous source rejects with %#", async (schema) => {
    const rejections = noteRejections();
    const source = { get: () => Promise.reject(new Error("secret")) as never, subscribe: () => () => {} };
    const { client, faults } = await openLive(defineSurface("s", { v: cell({ schema }) }), { v: source });
    await client.v.get().catch(() => {});
    await settle();
    expect(rejections.end()).toEqual([]);
    expect(faults.map(({ cause }) => cause)).toContainEqual(new Error("secret"));
  });

  it("get() masks what the schema throws, at once or later", async () => {
    for (const schema of [schemaOf(() => explode()), schemaOf(async () => explode())]) {
      const { client, faults } = await openLive(defineSurface("s", { v: cell({ schema }) }), { v: cellSource(1) });
      await expect(client.v.get()).rejects.toMatchObject({ code: "INTERNAL" });
      expect(faults[0]?.cause).toEqual(new Error("secret"));
    }
  });

  it("watch() reports once what the source's stop rejects with, and the process goes on", async () => {
    const rejections = noteRejections();
    const stop = async (): Promise<void> => explode();
    const source = { get: () => 1, subscribe: () => stop as never };
    const { client, faults } = await openLive(counter, { value: source });
    const values = client.value.watch()[Symbol.asyncIterator]();
    expect(await values.next()).toEqual({ done: false, value: 1 });
    await values.return?.();
    await settle();
    expect(rejections.end()).toEqual([]);
    expect(faults).toMatchObject([{ where: 'cell "value"', cause: new Error("secret") }]);
  });

  it("get() tries again when an asynchronous check failed", async () => {
    let fits = false;
    const schema = z.number().refine(async () => fits);
    const { client } = await openLive(defineSurface("s", { v: cell({ schema }) }), { v: cellSource(1) });
    await expect(client.v.get()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    fits = true;
    await settle();
    await expect(client.v.get()).resolves.toBe(1);
  });

  it("watch() gives the snapshot, then the newest, always the last, when writes fall anywhere", async () => {
    const script = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("read", "turn")), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(script, fc.boolean(), fc.boolean(), async (steps, eager, async) => {
        const source = new WatchedSource(-1);
        if (eager) source.onSubscribe = (fn) => fn(source.get());
        const schema = async ? z.number().refine(async () => true) : z.number();
        const { client, live } = await openLive(defineSurface("s", { v: cell({ schema }) }), { v: source });
        const seen: unknown[] = [];
        const iterator = client.v.watch()[Symbol.asyncIterator]();
        const reads: Promise<unknown>[] = [];
        const read = (): void => {
          const next = iterator.next().then((step) => {
            if (step.done !== true) seen.push(step.value);
          });
          reads.push(next);
        };
        read();
        for (const step of steps) {
          if (step === "read") read();
          else if (step === "turn") await settle(1);
          else source.set(step);
        }
        const last = source.get();
        // One more read than there can be values: then the last is due.
        read();
        await until(() => seen.at(-1) === last, "the last value");
        await iterator.return?.();
        await Promise.all(reads);
        for (const [index, value] of seen.entries()) expect(Object.is(value, seen[index - 1])).toBe(false);
        expect([source.subscribed, source.unsubscribed, source.active]).toEqual([1, 1, 0]);
        await live.close();
      }),
      { numRuns: 150 },
    );
  });

  it("watch() loses no write that falls between subscribing and reading", async () => {
    const source = new WatchedSource(1);
    source.onSubscribe = () => source.set(2);
    const { client } = await openLive(counter, { value: source });
    const iterator = client.value.watch()[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 2 });
    let reads = 0;
    source.onGet = () => {
      reads += 1;
      if (reads === 1) source.set(4);
    };
    source.set(3);
    expect(await iterator.next()).toEqual({ done: false, value: 4 });
    await iterator.return?.();
  });

  it.each(["return", "signal", "close"])(
    "watch() ends a next() that waits, and unsubscribes once, by %s",
    async (by) => {
      const source = new WatchedSource(1);
      const { client, live } = await openLive(counter, { value: source });
      const controller = new AbortController();
      const iterator = client.value.watch({ signal: controller.signal })[Symbol.asyncIterator]();
      await iterator.next();
      const waiting = [iterator.next(), iterator.next()];
      await settle();
      if (by === "return") await iterator.return?.();
      if (by === "signal") controller.abort();
      if (by === "close") await live.close();
      expect(await Promise.all(waiting)).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      expect([source.unsubscribed, source.active, listeners(controller.signal)]).toEqual([1, 0, 0]);
      source.set(9);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      expect(source.subscribed).toBe(1);
    },
  );

  it("watch() subscribes to nothing and holds nothing when it is never iterated", async () => {
    const source = new WatchedSource(1);
    const { client } = await openLive(counter, { value: source });
    const { signal } = new AbortController();
    client.value.watch({ signal });
    const other = client.value.watch({ signal })[Symbol.asyncIterator]();
    await other.return?.();
    expect(await other.next()).toEqual({ done: true, value: undefined });
    expect([source.subscribed, listeners(signal)]).toEqual([0, 0]);
  });

  it("watch() is over at once when its signal had fired before", async () => {
    const source = new WatchedSource(1);
    const { client } = await openLive(counter, { value: source });
    const iterator = client.value.watch({ signal: AbortSignal.abort() })[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(source.subscribed).toBe(0);
  });

  it("watch() ends, masked and unsubscribed, when a value cannot be read", async () => {
    const source = new WatchedSource<number>(1);
    const { client, faults } = await openLive(counter, { value: source });
    const { signal } = new AbortController();
    const iterator = client.value.watch({ signal })[Symbol.asyncIterator]();
    await iterator.next();
    source.set("bad" as never);
    await expect(iterator.next()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    expect([source.active, listeners(signal), faults.length]).toEqual([0, 0, 1]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it("watch() ends, masked, when the source refuses to be subscribed to or gives nothing to stop it by", async () => {
    const subscribes = [() => explode(), () => ({ unsubscribe: () => {} }) as never];
    for (const subscribe of subscribes) {
      const { client, faults } = await openLive(counter, { value: { get: () => 1, subscribe } });
      const { signal } = new AbortController();
      const iterator = client.value.watch({ signal })[Symbol.asyncIterator]();
      await expect(iterator.next()).rejects.toMatchObject({ code: "INTERNAL" });
      expect([faults.length, listeners(signal)]).toEqual([1, 0]);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    }
  });

  it("watch() reports and goes on when unsubscribing throws, by return() as by a signal", async () => {
    const subscribe = () => () => explode();
    const { client, faults, live } = await openLive(counter, { value: { get: () => 1, subscribe } });
    const controller = new AbortController();
    const [one, two] = [client.value.watch(), client.value.watch({ signal: controller.signal })];
    const iterators = [one[Symbol.asyncIterator](), two[Symbol.asyncIterator]()];
    await Promise.all(iterators.map((iterator) => iterator.next()));
    await iterators[0]?.return?.();
    controller.abort();
    await settle();
    await live.close();
    expect(faults.map((fault) => fault.cause)).toEqual([new Error("secret"), new Error("secret")]);
  });

  it("watch() unsubscribes when subscribing itself ends the watch", async () => {
    const source = new WatchedSource(1);
    const controller = new AbortController();
    source.onSubscribe = () => controller.abort();
    const { client } = await openLive(counter, { value: source });
    const iterator = client.value.watch({ signal: controller.signal })[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await settle();
    expect([source.unsubscribed, source.active]).toEqual([1, 0]);
  });

  it("watch() lets every watcher read on its own when there are several", async () => {
    const source = new WatchedSource(1);
    const { client } = await openLive(counter, { value: source });
    const all = Array.from({ length: 20 }, () => client.value.watch()[Symbol.asyncIterator]());
    await Promise.all(all.map((iterator) => iterator.next()));
    source.set(2);
    await all[0]?.return?.();
    const steps = await Promise.all(all.slice(1).map((iterator) => iterator.next()));
    expect(steps.every((step) => step.value === 2)).toBe(true);
    expect(source.active).toBe(19);
  });
});

function explode(): never {
  throw new Error("secret");
}
