import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import { anonymous } from "../../src/surface/caller.ts";
import { createListedItems, type ListedItems } from "../../src/catalog/resources/listed-items.ts";
import { ResourceWatches } from "../../src/catalog/resources/resource-watches.ts";
import { createUriResolver } from "../../src/catalog/resolve-uri.ts";
import { createCatalog } from "../../src/catalog/create-catalog.ts";
import { readTags } from "../../src/catalog/read-exposures.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import type { Link } from "../../src/links/link.ts";
import type { RpcAnswer } from "../../src/mcp/protocol.ts";
import { ResourceList } from "../../src/mcp/resource-list.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { cell, collection } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import type { ClientHarness } from "./client-harness.ts";
import { ConnectionHarness } from "./connection-harness.ts";
import { OracleHarness } from "./oracle/oracle-harness.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { ManualClock } from "./subscriptions/session-harness.ts";

const surface = defineSurface("shop", {
  jobs: mcpResource(collection({ key: z.string(), schema: z.number(), description: "The jobs" }), { listItems: true }),
  // Sorted between the list of the keys and the items.
  "jobs.x": mcpResource(cell({ schema: z.string() })),
});

type Numbers = ReadonlyMap<string, number>;
const of = (...keys: string[]): Numbers => new Map(keys.map((key) => [key, 1]));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const nothing = async (): Promise<undefined> => undefined;

/** The items that somebody sees who may see all, where none can be read. */
async function listed(items: ListedItems) {
  return (await items.list(nothing, () => true)).items;
}

const endless = (): Promise<never> => new Promise(() => {});

/** A list over a link, without a gate. */
function listOver(link: Link, pageSize = 1000) {
  const clock = new ManualClock();
  const held = new ReconnectingSurface({ link, surface });
  const { channel, subscriptions } = held;
  // What it is a client of is known here.
  const client = createClient(surface, channel) as SurfaceClient<unknown>;
  const catalog = createCatalog({
    surface: surface.name,
    exposures: readTags(surface),
    tools: new Map(),
    uriPrefix: "shop://",
    channel,
    client,
  });
  const watches = new ResourceWatches({ resolve: createUriResolver(catalog), subscriptions, windowMs: 0 });
  const items = createListedItems({ catalog, watches, windowMs: 0 });
  if (items === undefined) throw new Error("Making a list: there are no items");
  const invoker = createInvoker({ report: () => {} });
  closing.push(() => held.close());
  return { clock, items, list: new ResourceList({ catalog, items, invoker, pageSize, clock }) };
}

interface Page {
  readonly names: readonly string[];
  readonly cursor: string | undefined;
}

function pageOf(answer: RpcAnswer): Page {
  if (answer.kind === "error") throw new Error(`${answer.code} ${answer.message}`);
  const { resources, nextCursor } = JSON.parse(`{${answer.body}}`);
  return { names: resources.map((each: { name: string }) => each.name), cursor: nextCursor };
}

function liveShop(jobs = cellSource(of("b", "a"))) {
  const live = implementSurface(surface, { jobs, "jobs.x": cellSource("") });
  closing.push(() => live.close());
  return { jobs, link: inProcess(live) };
}

describe("ResourceList.page()", () => {
  it("waits for the items for 2 seconds, and then has the others", async () => {
    const { clock, list } = listOver({ connect: endless });
    const answer = list.page({}, anonymous);
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.pass(1999);
    expect(await Promise.race([answer, Promise.resolve("waits")])).toBe("waits");
    clock.pass(1);
    expect(pageOf(await answer).names).toEqual(["jobs", "jobs.x"]);
    expect(clock.pending).toBe(0);
  });

  it("has the last known items when they are watched and a read fails", async () => {
    const { items } = listOver(liveShop().link);
    expect(await listed(items)).toEqual([[]]);
    let heard = 0;
    items.watch(
      () => void (heard += 1),
      () => true,
    );
    await expect.poll(() => listed(items)).toMatchObject([[{ name: "jobs/a" }, { name: "jobs/b" }]]);
    // Whoever was shown none before that has been told.
    expect(heard).toBeLessThanOrEqual(1);
    const told = heard;
    await listed(items);
    expect(heard).toBe(told);
  });

  it("goes on with the list of a first page when that has changed since", async () => {
    const { jobs, link } = liveShop();
    const { list } = listOver(link, 2);
    const first = pageOf(await list.page(undefined, anonymous));
    expect(first.names).toEqual(["jobs", "jobs.x"]);
    jobs.set(of("x", "y", "z"));
    expect(pageOf(await list.page({}, anonymous)).names).toEqual(["jobs", "jobs.x"]);
    expect(pageOf(await list.page({ cursor: first.cursor }, anonymous)).names).toEqual(["jobs/a", "jobs/b"]);
  });

  it("drops a list when four others were read since, and refuses cursors of another caller", async () => {
    const { jobs, link } = liveShop();
    const { list } = listOver(link, 2);
    const { cursor } = pageOf(await list.page(undefined, anonymous));
    for (const key of ["1", "2", "3"]) {
      jobs.set(of(key));
      await list.page(undefined, anonymous);
    }
    // Shown again and again, it is one list.
    for (let count = 0; count < 5; count += 1) await list.page(undefined, anonymous);
    expect(pageOf(await list.page({ cursor }, anonymous)).names).toEqual(["jobs/a", "jobs/b"]);
    jobs.set(of("4"));
    await list.page(undefined, anonymous);
    for (const unknown of [cursor, "x", 1, null]) {
      expect(await list.page({ cursor: unknown }, anonymous)).toMatchObject({ kind: "error", code: -32602 });
    }
  });

  it("needs no application for a further page", async () => {
    const { jobs, link } = liveShop();
    const { list } = listOver(link, 3);
    const { cursor } = pageOf(await list.page(undefined, anonymous));
    jobs.set(of());
    await closing.shift()?.();
    expect(pageOf(await list.page({ cursor }, anonymous)).names).toEqual(["jobs/b"]);
  });
});

function open(create: (runtime: AppRuntime) => ClientHarness): ClientHarness {
  const app = mcp(surface, { pageSize: 3, uriPrefix: "shop://" }).implement({
    jobs: cellSource(of("b", "a b")),
    "jobs.x": cellSource(""),
  });
  const harness = create(app.open());
  closing.push(() => harness.close());
  return harness;
}

const served = [
  (runtime: AppRuntime) => new ConnectionHarness(runtime),
  (runtime: AppRuntime) => new OracleHarness(runtime),
];

describe.each(["legacy", "modern"] as const)("a list with items in the %s era", (era) => {
  it("is the same by our server and by the SDK's, page by page", async () => {
    const [hot, sdk] = await Promise.all(served.map((create) => open(create).open(era)));
    if (hot === undefined || sdk === undefined) throw new Error("Opening: there are two");
    let cursor: unknown;
    const seen: unknown[] = [];
    for (let id = 1; id === 1 || cursor !== undefined; id += 1) {
      const ask = { method: "resources/list", params: cursor === undefined ? {} : { cursor } };
      const [ours, theirs] = await Promise.all([hot.request(era, id, ask), sdk.request(era, id, ask)]);
      expect(ours).toEqual(theirs);
      const result = Object(ours["result"]);
      seen.push(...result.resources);
      cursor = result.nextCursor;
    }
    const mimeType = "application/json";
    expect(seen).toEqual([
      {
        uri: "shop://jobs",
        name: "jobs",
        description: "The keys of: The jobs (Every key; at most 1000 items are listed)",
        mimeType,
      },
      { uri: "shop://jobs.x", name: "jobs.x", mimeType },
      { uri: "shop://jobs/a%20b", name: "jobs/a b", mimeType },
      { uri: "shop://jobs/b", name: "jobs/b", mimeType },
    ]);
  });

  it("is declared as changing, as by the SDK", async () => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const ask = era === "legacy" ? { method: "initialize", params } : { method: "server/discover" };
    const [ours, theirs] = await Promise.all(served.map((create) => open(create).request(era, 1, ask)));
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty("result.capabilities", {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      completions: {},
    });
  });
});
