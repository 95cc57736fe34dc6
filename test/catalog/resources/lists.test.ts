import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import type { Link } from "../../../src/links/link.ts";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface, type LiveSurface } from "../../../src/surface/implement-surface.ts";
import type { PageUse } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { until } from "../../surface/support.ts";

const Issue = z.object({ title: z.string(), body: z.string(), at: z.date() });
const definition = { key: z.number(), schema: Issue, description: "One issue" };

const tracker = defineSurface("tracker", {
  issues: mcpResource(collection(definition), { list: "items", listItems: true }),
  titles: mcpResource(collection(definition), {
    list: ({ title, at }, id) => ({ title, isFirst: id === 1, year: at.getUTCFullYear() }),
    listDescription: "All issues, by title",
  }),
  keys: mcpResource(collection(definition)),
  search: mcpResource(
    collection({
      ...definition,
      filter: z.object({ state: z.enum(["open", "closed"]).optional(), since: z.date().optional() }),
    }),
    { list: ({ title }) => title },
  ),
});

const at = new Date(0);
const issue = (id: number) => [id, { title: `Issue ${id}`, body: "…", at }] as const;
const shown = (id: number) => ({
  key: id,
  item: { title: `Issue ${id}`, body: "…", at: "1970-01-01T00:00:00.000Z" },
});

/** A table of a million rows, which is never asked for more than a page. */
function bigTable() {
  const limits: number[] = [];
  const tellers = new Set<() => void>();
  let first = 1;
  const source = {
    async list({ after, limit }: PageUse) {
      limits.push(limit);
      const start = after === undefined ? first : Number(after);
      const items = Array.from({ length: limit }, (_, index) => issue(start + index));
      return { items, next: String(start + limit) };
    },
    get: async (id: number) => (id <= 1_000_000 ? issue(id)[1] : undefined),
    subscribe(fn: (change: { readonly set: number[]; readonly removed: number[] }) => void) {
      const tell = (): void => fn({ set: [], removed: [1] });
      tellers.add(tell);
      return () => void tellers.delete(tell);
    },
  };
  const removeFirst = (): void => {
    first += 1;
    for (const tell of tellers) tell();
  };
  return { source, limits, tellers, removeFirst };
}

async function overSocket(live: LiveSurface<(typeof tracker)["members"]>): Promise<Link> {
  const dir = await mkdtemp(join(tmpdir(), "lists-"));
  await listenUnixSocket(live, join(dir, "s"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return unixSocket(join(dir, "s"));
}

describe.each([
  ["in this process", inProcess],
  ["over a unix socket", overSocket],
])("the list of a collection %s", (_where, linkTo) => {
  async function open() {
    const table = bigTable();
    const filters: unknown[] = [];
    const live = implementSurface(tracker, {
      issues: table.source,
      titles: new Map([issue(1), issue(2), issue(3)]),
      keys: table.source,
      search: {
        list: ({ filter, limit }) => {
          filters.push(filter);
          return { items: [filter.state === "closed" ? issue(2) : issue(1), issue(3)].slice(0, limit) };
        },
        get: (id) => issue(id)[1],
        subscribe: (fn) => table.source.subscribe(fn),
      },
    });
    const client = createTestClient(
      mcp(tracker)
        .bridge(await linkTo(live))
        .pull(),
    );
    onTestFinished(async () => {
      await client.close();
      await live.close();
    });
    return { ...table, client, filters };
  }

  it("has pages of keys and items, which an agent walks by their cursor", async () => {
    const { client, limits } = await open();
    const list = await client.read("issues");
    expect(list).toMatchObject({ next: "101" });
    expect(list).toHaveProperty("items.length", 100);
    expect(list).toHaveProperty("items.0", shown(1));
    const page = await client.read("issues", { after: "101", limit: 2 });
    expect(page).toEqual({ items: [shown(101), shown(102)], next: "103" });
    const answer = await client.tools.read_resource({ uri: "surface://tracker/issues?limit=1&after=103" });
    expect(answer).toMatchObject({ structured: { value: { items: [shown(103)], next: "104" } } });
    expect([...new Set(limits)]).toEqual([100, 2, 1]);
  });

  it("has summaries by a function of the author's, and its own description", async () => {
    const { client } = await open();
    expect(await client.read("titles")).toEqual({
      items: [1, 2, 3].map((key) => ({ key, item: { title: `Issue ${key}`, isFirst: key === 1, year: 1970 } })),
    });
    const page = await client.read("titles", { limit: 2 });
    expect(page).toHaveProperty("items.length", 2);
    // What JSON gave.
    const { next } = page as { next: string };
    expect(await client.read("titles", { after: next })).toMatchObject({ items: [{ key: 3 }] });
    const { resources } = await client.request("resources/list");
    const described = (resources as { uri: string; description?: string }[]).map(({ uri, description }) => [
      uri,
      description,
    ]);
    expect(Object.fromEntries(described)).toMatchObject({
      "surface://tracker/titles": "All issues, by title",
      "surface://tracker/keys": "The keys of: One issue",
      "surface://tracker/issues": expect.stringContaining("The items of: One issue"),
    });
    const { resourceTemplates } = await client.request("resources/templates/list");
    const templates = (resourceTemplates as { uriTemplate: string }[]).map(({ uriTemplate }) => uriTemplate);
    expect(templates.filter((template) => template.includes("issues"))).toEqual([
      "surface://tracker/issues/{key}",
      "surface://tracker/issues{?after,limit}",
    ]);
  });

  it("takes the fields of its filter as variables of its pages", async () => {
    const { client, filters, removeFirst } = await open();
    const since = "2026-01-02T03:04:05.678Z";
    const closed = { state: "closed", limit: 1, since };
    expect(await client.read("search", closed)).toEqual({ items: [{ key: 2, item: "Issue 2" }] });
    expect(await client.read("search")).toMatchObject({ items: [{ key: 1 }, { key: 3 }] });
    expect(filters).toEqual([{ state: "closed", since: new Date(since) }, {}]);
    expect(await client.complete({ resource: "search", variable: "state" }, "c")).toMatchObject({ values: ["closed"] });
    const uri = "surface://tracker/search?state=new";
    await expect(client.request("resources/read", { uri })).rejects.toMatchObject({ code: -32602 });
    let told = 0;
    const stop = await client.watch("search", () => (told += 1), { state: "closed" });
    filters.splice(0);
    removeFirst();
    await until(() => filters.length > 0, "the read of a change");
    expect(filters[0]).toEqual({ state: "closed" });
    expect(told).toBe(0);
    stop();
  });

  it.each([
    [z.object({ state: z.string() }), '"state" must be optional'],
    [z.object({ limit: z.string().optional() }), '"limit" has the name of a variable that every page takes'],
    [z.object({ at: z.object({}) }), "must be a scalar or a flat object of scalars"],
  ])("is refused at startup with a filter that no URI can carry", (filter, sentence) => {
    const rows = mcpResource(collection({ ...definition, filter: filter as z.ZodObject }), { list: "items" });
    const app = mcp(defineSurface("probe", { rows }));
    const link = { connect: () => Promise.reject(new Error("not reached")) };
    expect(() => createTestClient(app.bridge(link))).toThrow(sentence);
  });

  it("takes no more than a page for anything that an agent may ask", async () => {
    const { client, limits } = await open();
    expect(await client.read("keys")).toHaveProperty("length", 1000);
    expect(await client.complete({ resource: "keys", variable: "key" }, "12")).toMatchObject({
      values: expect.arrayContaining(["12", "120"]),
    });
    const { resources } = await client.request("resources/list");
    expect((resources as unknown[]).length).toBeLessThanOrEqual(1003);
    expect(await client.read("issues", { key: 999_999 })).toEqual(shown(999_999).item);
    expect(Math.max(...limits)).toBe(1000);
  });

  it("is watched by pages: a change of the table is told, and read", async () => {
    const { client, tellers, removeFirst } = await open();
    const told = { list: 0, page: 0 };
    const stops = [
      await client.watch("issues", () => (told.list += 1)),
      await client.watch("issues", () => (told.page += 1), { limit: 2 }),
    ];
    removeFirst();
    await until(() => told.list > 0 && told.page > 0, "the notices of both");
    expect(await client.read("issues", { limit: 2 })).toEqual({ items: [shown(2), shown(3)], next: "4" });
    for (const stop of stops) stop();
    await until(() => tellers.size === 0, "the end of the watches");
    const uris = ["surface://tracker/issues?limit=1"];
    const first = await client.tools.wait_for_change({ uris, timeout_ms: 0 });
    const since = String(Reflect.get(Object(Reflect.get(first, "structured")), "cursor"));
    const waiting = client.tools.wait_for_change({ uris, since, timeout_ms: 20_000 });
    removeFirst();
    expect(await waiting).toMatchObject({ structured: { status: "changed", changed: uris } });
  });

  it.each(["limit=0", "limit=1001", "limit=x", "after", "other=1", "limit=1&limit=2", "after=%zz", "after=%00"])(
    "does not answer a page of %s",
    async (query) => {
      const { client, limits } = await open();
      await expect(
        client.request("resources/read", { uri: `surface://tracker/issues?${query}` }),
      ).rejects.toMatchObject({ code: -32602 });
      await expect(client.request("resources/read", { uri: `surface://tracker/keys?limit=1` })).rejects.toMatchObject({
        code: -32602,
      });
      expect(limits).toEqual([]);
    },
  );
});

describe("a summary", () => {
  it.each([
    ["a promise", async () => ({})],
    ["no JSON", () => new Map()],
    [
      "a throw",
      () => {
        throw new Error("secret");
      },
    ],
  ])("that is %s fails the read, masked", async (_what, list) => {
    const surface = defineSurface("probe", { rows: mcpResource(collection(definition), { list }) });
    const faults: unknown[] = [];
    const live = implementSurface(surface, { rows: new Map([issue(1)]) });
    const client = createTestClient(mcp(surface, { onFault: (fault) => faults.push(fault) }).bridge(inProcess(live)));
    const failure = await client.read("rows").catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).not.toContain("secret");
    expect(faults).toHaveLength(1);
    await client.close();
    await live.close();
  });
});
