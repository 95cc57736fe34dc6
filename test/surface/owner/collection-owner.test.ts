import { describe, expect, it } from "vitest";
import * as z from "zod";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { cellSource, type CollectionChange, type KeyedSource } from "../../../src/surface/source.ts";
import { openLive, settle, WatchedSource } from "../support.ts";

const notes = defineSurface("notes", {
  all: collection({ key: z.string().min(1), schema: z.object({ text: z.string() }) }),
});

type Notes = ReadonlyMap<string, { text: string }>;

/** A keyed source over an object, which answers from its own properties only. */
class Shelf implements KeyedSource<string, { text: string }> {
  readonly #items: Record<string, { text: string }> = {};
  readonly #listeners = new Set<(change: CollectionChange<string>) => void>();
  reads = 0;

  keys(): string[] {
    return Object.keys(this.#items);
  }

  // A new object each time, as from a database.
  get(key: string): { text: string } | undefined {
    this.reads += 1;
    const item = Object.hasOwn(this.#items, key) ? this.#items[key] : undefined;
    return item === undefined ? undefined : { ...item };
  }

  put(key: string, text: string): void {
    Object.defineProperty(this.#items, key, { value: { text }, enumerable: true, configurable: true, writable: true });
    for (const listener of this.#listeners) listener({ set: [key], removed: [] });
  }

  drop(key: string): void {
    delete this.#items[key];
    for (const listener of this.#listeners) listener({ set: [], removed: [key] });
  }

  subscribe(fn: (change: CollectionChange<string>) => void): () => void {
    this.#listeners.add(fn);
    return () => {
      this.#listeners.delete(fn);
    };
  }
}

describe("a collection", () => {
  it("get() answers the item, or undefined at once, when the source is of a map", async () => {
    const source = cellSource<Notes>(new Map([["a", { text: "A" }]]));
    const { client } = await openLive(notes, { all: source });
    expect(await client.all.keys()).toEqual(["a"]);
    expect(await client.all.get("a")).toEqual({ text: "A" });
    for (const absent of ["b", "__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(await client.all.get(absent)).toBeUndefined();
    }
    await expect(client.all.get("")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("get() and keys() take any string for a key when the source is keyed", async () => {
    const shelf = new Shelf();
    for (const key of ["__proto__", "constructor", "a/b", "%2F", "ü"]) shelf.put(key, `of ${key}`);
    const { client } = await openLive(notes, { all: shelf });
    expect(await client.all.keys()).toEqual(["__proto__", "constructor", "a/b", "%2F", "ü"]);
    expect(await client.all.get("__proto__")).toEqual({ text: "of __proto__" });
    expect(await client.all.get("toString")).toBeUndefined();
  });

  it("get() finds numbers, and objects whatever the order of their fields", async () => {
    const surface = defineSurface("s", {
      byNumber: collection({ key: z.number(), schema: z.string() }),
      byObject: collection({ key: z.object({ a: z.string(), b: z.number().optional() }), schema: z.string() }),
    });
    const { client } = await openLive(surface, {
      byNumber: cellSource(new Map([[7, "seven"]])),
      byObject: cellSource(
        new Map<{ a: string; b?: number }, string>([
          [{ b: 2, a: "x" }, "both"],
          [{ a: "x" }, "one"],
        ]),
      ),
    });
    expect(await client.byNumber.get(7)).toBe("seven");
    expect(await client.byObject.get({ a: "x", b: 2 })).toBe("both");
    expect(await client.byObject.get({ a: "x" })).toBe("one");
    expect(await client.byObject.get({ a: "y" })).toBeUndefined();
    await expect(client.byNumber.get("7" as never)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("get() finds an item by the key as it was given when the key's schema makes another value of it", async () => {
    const key = z.string().transform((text) => Number(text));
    const { client } = await openLive(defineSurface("s", { all: collection({ key, schema: z.string() }) }), {
      all: cellSource(new Map([["7", "seven"]])),
    });
    expect(await client.all.keys()).toEqual([7]);
    expect(await client.all.get("7")).toBe("seven");
    expect(await client.all.get("8")).toBeUndefined();
  });

  it("get() answers the item as it is now when the source changes it in place", async () => {
    const item = { n: 1 };
    const { client } = await openLive(
      defineSurface("s", { all: collection({ key: z.string(), schema: z.object({ n: z.number() }) }) }),
      { all: cellSource(new Map([["a", item]])) },
    );
    expect(await client.all.get("a")).toEqual({ n: 1 });
    item.n = 2;
    expect(await client.all.get("a")).toEqual({ n: 2 });
    item.n = "secret" as never;
    await expect(client.all.get("a")).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
  });

  it("keys() and get() mask what the source throws, and refuse what breaks its schema", async () => {
    const broken = { get: () => "no map", subscribe: () => () => {} } as never;
    const { client, faults } = await openLive(notes, { all: broken });
    await expect(client.all.keys()).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(client.all.get("a")).rejects.toMatchObject({ code: "INTERNAL" });
    expect(faults).toHaveLength(2);
    const wrong = await openLive(notes, {
      all: cellSource<Notes>(
        new Map([
          ["", { text: 5 as never }],
          ["a", 5 as never],
        ]),
      ),
    });
    await expect(wrong.client.all.keys()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    await expect(wrong.client.all.get("a")).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
  });

  it("watch() gives the item, its changes and undefined when it is removed, and nothing of its neighbours", async () => {
    const source = new WatchedSource<Notes>(new Map());
    const { client } = await openLive(notes, { all: source });
    const iterator = client.all.watch("a")[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: undefined });
    const seen: unknown[] = [];
    const running = (async () => {
      for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) seen.push(step.value);
    })();
    const mine = { text: "A" };
    for (const entries of [
      [["a", mine]],
      [
        ["a", mine],
        ["b", { text: "B" }],
      ],
      [["b", { text: "B" }]],
    ] as const) {
      source.set(new Map(entries));
      await settle();
    }
    expect(seen).toEqual([{ text: "A" }, undefined]);
    await iterator.return?.();
    await running;
    expect(source.active).toBe(0);
  });

  it("watch() sees no change when a keyed source names other keys, or a scalar item stays the same", async () => {
    const shelf = new Shelf();
    shelf.put("a", "A");
    const { client } = await openLive(notes, { all: shelf });
    const iterator = client.all.watch("a")[Symbol.asyncIterator]();
    await iterator.next();
    const { reads } = shelf;
    const waiting = iterator.next();
    shelf.put("b", "B");
    shelf.drop("b");
    await settle();
    expect(shelf.reads).toBe(reads);
    shelf.put("a", "A2");
    expect(await waiting).toEqual({ done: false, value: { text: "A2" } });
    await iterator.return?.();

    const source = new WatchedSource<ReadonlyMap<string, string>>(new Map([["a", "2020-01-01"]]));
    const dates = defineSurface("s", {
      all: collection({ key: z.string(), schema: z.string().transform((t) => new Date(t)) }),
    });
    const other = await openLive(dates, { all: source });
    const watching = other.client.all.watch("a")[Symbol.asyncIterator]();
    await watching.next();
    let again = false;
    const next = watching.next().then(() => (again = true));
    source.set(
      new Map([
        ["a", "2020-01-01"],
        ["b", "2021-01-01"],
      ]),
    );
    await settle();
    expect(again).toBe(false);
    await watching.return?.();
    await next;
  });

  it("watch() treats a change that names no keys as one of them all", async () => {
    let tell = (_change: never): void => {};
    let item = { text: "A" };
    const source = {
      keys: () => ["a"],
      get: () => item,
      subscribe: (fn: (change: never) => void) => {
        tell = fn;
        return () => {};
      },
    };
    const { client } = await openLive(notes, { all: source });
    const iterator = client.all.watch("a")[Symbol.asyncIterator]();
    await iterator.next();
    item = { text: "B" };
    tell({ set: "a" } as never);
    expect(await iterator.next()).toEqual({ done: false, value: { text: "B" } });
    await iterator.return?.();
  });

  it("watch() and watchKeys() find object keys in a change", async () => {
    const shelf: { tell: (change: CollectionChange<{ id: number }>) => void; n: number } = { tell: () => {}, n: 1 };
    const surface = defineSurface("s", { all: collection({ key: z.object({ id: z.number() }), schema: z.number() }) });
    const { client } = await openLive(surface, {
      all: {
        keys: () => [{ id: 1 }],
        get: () => shelf.n,
        subscribe: (fn: (change: CollectionChange<{ id: number }>) => void) => {
          shelf.tell = fn;
          return () => {};
        },
      },
    });
    const iterator = client.all.watch({ id: 1 })[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    shelf.n = 2;
    shelf.tell({ set: [{ id: 5 }], removed: [{ id: 1 }] });
    expect(await iterator.next()).toEqual({ done: false, value: 2 });
    await iterator.return?.();
  });

  it("watch() refuses a key that does not fit, on its first value, and holds nothing", async () => {
    const source = new WatchedSource<Notes>(new Map());
    const { client } = await openLive(notes, { all: source });
    await expect(client.all.watch("")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    expect(source.active).toBe(0);
  });

  it("watchKeys() gives one array for as long as the keys are the same", async () => {
    const source = new WatchedSource<Notes>(new Map([["a", { text: "A" }]]));
    const { client } = await openLive(notes, { all: source });
    const iterator = client.all.watchKeys()[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: ["a"] });
    const waiting = iterator.next();
    source.set(new Map([["a", { text: "changed" }]]));
    await settle();
    source.set(
      new Map([
        ["a", { text: "A" }],
        ["b", { text: "B" }],
      ]),
    );
    expect(await waiting).toEqual({ done: false, value: ["a", "b"] });
    await iterator.return?.();
    expect(source.active).toBe(0);
  });
});
