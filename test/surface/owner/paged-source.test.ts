import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inProcess } from "../../../src/links/in-process.ts";
import { projected } from "../../../src/links/projected.ts";
import type { CollectionClient } from "../../../src/surface/client.ts";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { polled, type CollectionChange, type CollectionPage, type PageUse } from "../../../src/surface/source.ts";
import { projectSurface } from "../../../src/surface/project-surface.ts";
import { openLive, until } from "../support.ts";

const Row = z.object({ title: z.string() });
const table = defineSurface("table", { rows: collection({ key: z.number(), schema: Row }) });

type Rows = CollectionClient<number, number, { title: string }>;

const row = (id: number) => [id, { title: `row ${id}` }] as const;

/** A table of a million rows. It fails if it is asked for more than a page. */
class BigTable {
  readonly limits: number[] = [];
  count = 1_000_000;

  readonly list = async ({ after = "0", limit, signal }: PageUse) => {
    signal.throwIfAborted();
    this.limits.push(limit);
    if (limit > 1000) throw new Error("too many");
    const start = Number(after);
    const end = Math.min(start + limit, this.count);
    const items = Array.from({ length: end - start }, (_, index) => row(start + index + 1));
    return { items, next: end < this.count ? String(end) : undefined };
  };

  readonly get = async (id: number) => (id >= 1 && id <= this.count ? row(id)[1] : undefined);
}

/** Every page of a collection, and how many there were. */
async function readAll(rows: Rows, limit: number) {
  const pages: CollectionPage<number, { title: string }>[] = [];
  let after: string | undefined;
  do {
    const page = await rows.list({ after, limit });
    pages.push(page);
    after = page.next;
  } while (after !== undefined && pages.length < 20);
  return { keys: pages.flatMap(({ items }) => items.map(([key]) => key)), pages: pages.length };
}

describe("a collection that pages", () => {
  it("is read by pages of 100, or of the size that its reader says, and never as a whole", async () => {
    const source = new BigTable();
    const { client } = await openLive(table, { rows: source });
    const first = await client.rows.list();
    expect([first.items.length, first.items[0], first.next]).toEqual([100, row(1), "100"]);
    const second = await client.rows.list({ after: first.next, limit: 2 });
    expect(second).toEqual({ items: [row(101), row(102)], next: "102" });
    expect(await client.rows.list({ after: "999999" })).toEqual({ items: [row(1_000_000)] });
    expect((await client.rows.keys()).length).toBe(1000);
    expect(await client.rows.get(700_000)).toEqual(row(700_000)[1]);
    expect(source.limits).toEqual([100, 2, 100, 1000]);
  });

  it.each([
    ["limit", { limit: 0 }],
    ["limit", { limit: 1001 }],
    ["limit", { limit: 1.5 }],
    ["limit", { limit: "5" as never }],
    ["after", { after: 5 as never }],
  ])("refuses a page whose %s does not fit: %j", async (path, page) => {
    const source = new BigTable();
    const { client } = await openLive(table, { rows: source });
    const refusal = { code: "VALIDATION_ERROR", issues: [{ path }] };
    await expect(client.rows.list(page)).rejects.toMatchObject(refusal);
    const watch = client.rows.watchList(page)[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toMatchObject(refusal);
    expect(source.limits).toEqual([]);
  });

  it.each([
    ["no page", "rows"],
    ["a page without items", { next: "5" }],
    ["more than was asked for", { items: [row(1), row(2), row(3)] }],
    ["an item that does not fit", { items: [[1, { title: 5 }]] }],
    ["a key that does not fit", { items: [["1", { title: "row 1" }]] }],
    ["no pairs", { items: [{ title: "row 1" }] }],
    ["a cursor that is no text", { items: [], next: 5 }],
  ])("withholds what its source gives where that is %s", async (_what, page) => {
    const rows = { list: () => page as never, get: () => undefined };
    const { client, faults } = await openLive(table, { rows });
    await expect(client.rows.list({ limit: 2 })).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    expect(faults).toHaveLength(1);
  });

  it("is watched page by page: when it tells of a change the page is read again", async () => {
    const tellers = new Set<(change: CollectionChange<number>) => void>();
    const source = new BigTable();
    const subscribe = (fn: (change: CollectionChange<number>) => void) => {
      tellers.add(fn);
      return () => void tellers.delete(fn);
    };
    const { client } = await openLive(table, { rows: { list: source.list, get: source.get, subscribe } });
    source.count = 2;
    const pages = client.rows.watchList({ limit: 2 })[Symbol.asyncIterator]();
    expect((await pages.next()).value).toEqual({ items: [row(1), row(2)] });
    source.count = 3;
    for (const tell of tellers) tell({ set: [3], removed: [] });
    expect((await pages.next()).value).toEqual({ items: [row(1), row(2)], next: "2" });
    await pages.return?.();
    expect(tellers.size).toBe(0);
    expect(Math.max(...source.limits)).toBe(2);
  });

  it("is polled without subscribe", async () => {
    const source = new BigTable();
    source.count = 1;
    const { client } = await openLive(table, { rows: { list: source.list, get: source.get, pollMs: 10 } });
    const pages = client.rows.watchList()[Symbol.asyncIterator]();
    expect((await pages.next()).value).toEqual({ items: [row(1)] });
    await until(() => source.limits.length > 2);
    source.count = 2;
    expect((await pages.next()).value).toEqual({ items: [row(1), row(2)] });
    await pages.return?.();
  });
});

const State = z.enum(["open", "closed"]);
const Filter = z.object({ state: State.optional(), since: z.date().optional(), deep: z.boolean().default(false) });
const filtered = defineSurface("filtered", { rows: collection({ key: z.number(), schema: Row, filter: Filter }) });

describe("a collection with a filter", () => {
  async function open() {
    const filters: unknown[] = [];
    const list = ({ filter, limit }: PageUse<z.infer<typeof Filter>>) => {
      filters.push(filter);
      const ids = filter.state === "closed" ? [2] : [1, 2, 3];
      return { items: ids.slice(0, limit).map(row) };
    };
    return { filters, ...(await openLive(filtered, { rows: { list, get: (id) => row(id)[1], pollMs: 10 } })) };
  }

  it("gives its source the filter of each page, validated, and one that leaves out nothing without it", async () => {
    const { client, filters } = await open();
    const since = new Date(0);
    expect(await client.rows.list({ filter: { state: "closed", since }, limit: 2 })).toEqual({ items: [row(2)] });
    expect((await client.rows.list()).items).toHaveLength(3);
    expect(await client.rows.keys()).toEqual([1, 2, 3]);
    expect(filters).toEqual([{ state: "closed", since, deep: false }, { deep: false }, { deep: false }]);
    await expect(client.rows.list({ filter: { state: "new" as never } })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "state" }],
    });
  });

  it("has pages of each filter watched by themselves", async () => {
    const { client } = await open();
    const closed = client.rows.watchList({ filter: { state: "closed" } })[Symbol.asyncIterator]();
    const all = client.rows.watchList()[Symbol.asyncIterator]();
    expect([(await closed.next()).value, (await all.next()).value]).toEqual([
      { items: [row(2)] },
      { items: [row(1), row(2), row(3)] },
    ]);
    for (const watch of [closed, all]) await watch.return?.();
  });

  it("is implemented by a source that pages, and nothing else", () => {
    for (const rows of [new Map(), { get: () => new Map() }, { keys: () => [], get: () => undefined }]) {
      expect(() => implementSurface(filtered, { rows: rows as never })).toThrow(
        "it declares a filter: it needs a source with list(page) and get(key)",
      );
    }
    const strict = defineSurface("strict", {
      rows: collection({ key: z.number(), schema: Row, filter: z.object({ state: State }) }),
    });
    const rows = { list: () => ({ items: [] }), get: () => undefined };
    expect(() => implementSurface(strict, { rows })).toThrow("its filter must accept {}");
  });

  it("is refused a filter where it declares none", async () => {
    const { client } = await openLive(table, { rows: new BigTable() });
    await expect(client.rows.list({ filter: { state: "open" } as never })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "filter" }],
    });
  });
});

describe("a collection that does not page", () => {
  const map = new Map([1, 2, 3, 4, 5].map(row));
  const keyed = { keys: () => map.keys(), get: (key: number) => map.get(key), subscribe: () => () => {} };
  const later = { keys: async () => map.keys(), get: async (key: number) => map.get(key) };
  it.each([
    ["a map", polled(() => map)],
    ["a map that comes later", polled(async () => map)],
    ["keys and items", keyed],
    ["keys and items that come later", later],
  ])("is cut into pages: %s", async (_what, rows) => {
    const { client } = await openLive(table, { rows });
    expect(await client.rows.list()).toEqual({ items: [...map] });
    expect(await readAll(client.rows, 2)).toEqual({ keys: [1, 2, 3, 4, 5], pages: 3 });
    expect(await readAll(client.rows, 5)).toEqual({ keys: [1, 2, 3, 4, 5], pages: 1 });
    await expect(client.rows.list({ after: "x" })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
  });

  it.each([
    ["a key before it", [1], [4, 5]],
    ["that key", [3], [4, 5]],
    ["every key", [1, 2, 3, 4, 5], []],
  ])("goes on behind the last key of the page before, after %s has gone", async (_what, gone, left) => {
    const rows = new Map([1, 2, 3, 4, 5].map(row));
    const { client } = await openLive(table, { rows: { get: () => rows } });
    const { next: after } = await client.rows.list({ limit: 3 });
    for (const key of gone) rows.delete(key);
    expect((await client.rows.list({ after })).items.map(([key]) => key)).toEqual(left);
  });
});

describe("a derived collection", () => {
  it("is cut into pages of what is made of each item", async () => {
    const { live } = await openLive(table, { rows: new BigTable() });
    const titles = defineSurface("titles", { rows: collection({ key: z.number(), schema: z.string() }) });
    const projection = projectSurface(table, titles, ({ rows }) => ({
      rows: derive.collection(rows, ({ title }) => title.toUpperCase()),
    }));
    const { client } = await projected(projection, inProcess(live)).connect(projection);
    const page = await client.rows.list({ limit: 2 });
    expect(page.items).toEqual([
      [1, "ROW 1"],
      [2, "ROW 2"],
    ]);
    expect((await client.rows.list({ limit: 1, after: page.next })).items).toEqual([[3, "ROW 3"]]);
    const pages = client.rows.watchList({ limit: 1 })[Symbol.asyncIterator]();
    expect((await pages.next()).value).toMatchObject({ items: [[1, "ROW 1"]] });
    await pages.return?.();
    const unfit = client.rows.watchList({ limit: 0 })[Symbol.asyncIterator]();
    await expect(unfit.next()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
