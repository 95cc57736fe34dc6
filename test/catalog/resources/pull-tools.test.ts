import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import type { ProgressReport } from "../../../src/catalog/entry.ts";
import type { Link } from "../../../src/links/link.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { cell, collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import type { ToolAnswer } from "../../../src/testing/tool-answer.ts";
import { flakyBackend } from "./flaky-backend.ts";

const surface = defineSurface("ci", {
  state: mcpResource(cell({ schema: z.number(), description: "How far it is" })),
  other: mcpResource(cell({ schema: z.number() })),
  config: mcpResource(cell({ schema: z.object({ deep: z.array(z.number()) }) })),
  items: mcpResource(collection({ key: z.string().max(3), schema: z.number() })),
  hidden: cell({ schema: z.number() }),
});

const at = (path: string): string => `surface://ci/${path}`;
const state = at("state");
const other = at("other");

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).toReversed()) await close();
});

function backend() {
  const sources = {
    state: cellSource(0),
    other: cellSource(0),
    config: cellSource({ deep: [1] }),
    items: cellSource<ReadonlyMap<string, number>>(new Map([["a", 1]])),
  };
  const make = () => implementSurface(surface, { ...sources, hidden: cellSource(0) });
  const live = make();
  closers.push(() => live.close());
  return { ...sources, make, flaky: flakyBackend(live) };
}

function serve(link: Link) {
  const client = createTestClient(
    mcp(surface, { onFault: () => {} })
      .bridge(link)
      .pull(),
  );
  closers.push(() => client.close());
  return client;
}

type Client = ReturnType<typeof serve>;

interface Waited {
  readonly status: string;
  readonly changed: readonly string[];
  readonly cursor: string;
  readonly reset?: true;
}

/** What a wait answered. */
function waited(answer: ToolAnswer): Waited {
  if (answer.isError) throw new Error(answer.text);
  // The tool's output schema says so.
  return answer.structured as unknown as Waited;
}

async function waitFor(client: Client, uris: readonly string[], more: JsonObject = {}): Promise<Waited> {
  return waited(await client.tools.wait_for_change({ uris, ...more }));
}

/** The cursor of now. */
async function cursorOf(client: Client, ...uris: readonly string[]): Promise<string> {
  return (await waitFor(client, uris, { timeout_ms: 0 })).cursor;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("read_resource", () => {
  it.each([
    ["state", 0],
    ["items", ["a"]],
    ["items/a", 1],
  ])("gives the value of %s, watched or not", async (path, value) => {
    const client = serve(backend().flaky.link);
    const structured = { uri: at(path), value };
    expect(await client.tools.read_resource({ uri: at(path) })).toMatchObject({ isError: false, structured });
    await cursorOf(client, at(path));
    expect(await client.tools.read_resource({ uri: at(path) })).toMatchObject({ isError: false, structured });
  });

  it("says of a hidden URI what it says of one that does not exist", async () => {
    const client = serve(backend().flaky.link);
    const says = async (path: string): Promise<string> => {
      const answer = await client.tools.read_resource({ uri: at(path) });
      expect(answer).toMatchObject({ isError: true, code: "NOT_FOUND" });
      return answer.text.replace(at(path), "URI");
    };
    const unknown = await says("nope");
    expect(await says("hidden")).toBe(unknown);
    expect(await says("items/a/b")).toBe(unknown);
  });

  it.each(["items/b", "items/long-key"])("answers ABSENT when there is nothing under %s", async (path) => {
    const client = serve(backend().flaky.link);
    expect(await client.tools.read_resource({ uri: at(path) })).toMatchObject({
      code: "ABSENT",
      text: `ABSENT: the resource "${at(path)}" has no value at present`,
    });
  });

  it("names the resources in its description, as many as fit", async () => {
    const listed = async (client: { request(method: "tools/list"): Promise<JsonObject> }): Promise<string> => {
      const { tools } = (await client.request("tools/list")) as { tools: readonly { description: string }[] };
      return tools[0]?.description ?? "";
    };
    const description = await listed(serve(backend().flaky.link));
    expect(description).toContain(`\n${state} - How far it is\n`);
    expect(description).toContain(`\n${at("items/{key}")}`);
    expect(description).not.toContain("hidden");
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_each, n) => [
        `m${n}`,
        mcpResource(cell({ schema: z.number(), description: "x".repeat(200) })),
      ]),
    );
    const app = mcp(defineSurface("many", many as Record<never, never>)).bridge(backend().flaky.link);
    const client = createTestClient(app.pull());
    const cut = await listed(client);
    expect(cut.length).toBeLessThan(2048);
    expect(cut).toMatch(/\n… and \d+ more$/);
    await client.close();
  });
});

describe("the arguments of pull tools", () => {
  it.each([
    ["read_resource", {}, "uri"],
    ["read_resource", { uri: 1 }, "uri"],
    ["wait_for_change", {}, "uris"],
    ["wait_for_change", { uris: [] }, "uris"],
    ["wait_for_change", { uris: state }, "uris"],
    ["wait_for_change", { uris: [state, 1] }, "uris.1"],
    ["wait_for_change", { uris: Array.from({ length: 65 }, () => state) }, "uris"],
    ["wait_for_change", { uris: [state], since: 1 }, "since"],
    ["wait_for_change", { uris: [state], since: null }, "since"],
    ["wait_for_change", { uris: [state], timeout_ms: 60_001 }, "timeout_ms"],
    ["wait_for_change", { uris: [state], timeout_ms: -1 }, "timeout_ms"],
    ["wait_for_change", { uris: [state], timeout_ms: "1" }, "timeout_ms"],
  ] as const)("%s refuses %j with its path", async (name, args, path) => {
    const client = serve(backend().flaky.link);
    const answer = await client.request("tools/call", { name, arguments: args as JsonObject });
    expect(answer).toMatchObject({
      isError: true,
      _meta: { "surface-mcp/error": { code: "VALIDATION_ERROR", issues: [{ path }] } },
    });
  });

  it("wait_for_change names the URI that there is not, as it was written, and dials nothing", async () => {
    const { flaky } = backend();
    const client = serve(flaky.link);
    const answer = await client.tools.wait_for_change({ uris: [state, at("hid%64en")] });
    expect(answer).toMatchObject({ code: "NOT_FOUND", text: expect.stringContaining(`"${at("hid%64en")}"`) });
    expect(flaky.dials).toBe(0);
  });
});

describe("wait_for_change", () => {
  it("answers as soon as one of the resources changes, and names it", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const waiting = waitFor(client, [state, other, at("items/b"), state]);
    await turns();
    back.other.set(1);
    expect(await waiting).toMatchObject({ status: "changed", changed: [other] });
  });

  it.each([
    ["comes", "items/b", new Map([["b", 1]])],
    ["goes", "items/a", new Map<string, number>()],
    ["changes", "items/a", new Map([["a", 2]])],
  ])("answers when an item %s", async (_what, path, next) => {
    const back = backend();
    const client = serve(back.flaky.link);
    const waiting = waitFor(client, [at(path)]);
    await turns();
    back.items.set(next);
    expect(await waiting).toMatchObject({ status: "changed", changed: [at(path)] });
  });

  it("answers timed_out when nothing has changed, and the cursor goes on from there", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const first = await waitFor(client, [state], { timeout_ms: 20 });
    expect(first).toMatchObject({ status: "timed_out", changed: [] });
    expect(first).not.toHaveProperty("reset");
    const second = await waitFor(client, [state], { timeout_ms: 20, since: first.cursor });
    expect(second).toMatchObject({ status: "timed_out", changed: [] });
  });

  it("answers at once when something has changed after the cursor, also when it has changed back", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const since = await cursorOf(client, state, other);
    back.state.set(1);
    await turns();
    back.state.set(0);
    await turns();
    const answer = await waitFor(client, [state, other], { since });
    expect(answer).toMatchObject({ status: "changed", changed: [state] });
    expect(await waitFor(client, [state, other], { since: answer.cursor, timeout_ms: 0 })).toMatchObject({
      status: "timed_out",
    });
  });

  it("takes a URI that the cursor does not know from now on", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const since = await cursorOf(client, state);
    back.other.set(1);
    await turns();
    const waiting = waitFor(client, [state, other], { since });
    await turns();
    back.other.set(2);
    expect(await waiting).toMatchObject({ status: "changed", changed: [other] });
  });

  it.each(["", "nonsense", "a.b.c", "x".repeat(10_000), "🙂", "aaaaaa~~e~"])(
    "answers at once with reset and a new cursor when the cursor is %j",
    async (since) => {
      const back = backend();
      const client = serve(back.flaky.link);
      const answer = await waitFor(client, [state], { since });
      expect(answer).toMatchObject({ status: "timed_out", changed: [], reset: true });
      back.state.set(1);
      expect(await waitFor(client, [state], { since: answer.cursor })).toMatchObject({ status: "changed" });
    },
  );

  it("reports progress while it waits", async () => {
    vi.useFakeTimers();
    const reports: ProgressReport[] = [];
    const client = serve(backend().flaky.link);
    const onProgress = (report: ProgressReport): number => reports.push(report);
    const waiting = client.tools.wait_for_change({ uris: [state], timeout_ms: 3500 }, { onProgress });
    await vi.advanceTimersByTimeAsync(4000);
    expect(waited(await waiting).status).toBe("timed_out");
    expect(reports.map(({ progress }) => progress)).toEqual([1, 2, 3]);
  });

  it("ends at once when it is cancelled, and when the app closes", async () => {
    const client = serve(backend().flaky.link);
    const abort = new AbortController();
    const cancelled = client.tools.wait_for_change({ uris: [state] }, { signal: abort.signal });
    const closed = client.tools.wait_for_change({ uris: [state] });
    await turns();
    abort.abort();
    expect(await cancelled).toMatchObject({ code: "ABORTED" });
    await client.close();
    expect(await closed).toMatchObject({ code: "CLOSED" });
    expect(await client.tools.wait_for_change({ uris: [state] })).toMatchObject({ code: "CLOSED" });
  });

  it("shares one upstream watch among all who wait, and lets it go a while after", async () => {
    vi.useFakeTimers();
    const back = backend();
    let listeners = 0;
    const subscribe = back.state.subscribe.bind(back.state);
    const most = vi.fn<(count: number) => void>();
    vi.spyOn(back.state, "subscribe").mockImplementation((tell) => {
      listeners += 1;
      most(listeners);
      const stop = subscribe(tell);
      return () => {
        listeners -= 1;
        stop();
      };
    });
    const client = serve(back.flaky.link);
    const waits = Array.from({ length: 50 }, () => waitFor(client, [state]));
    await vi.advanceTimersByTimeAsync(10);
    back.state.set(1);
    for (const answer of await Promise.all(waits)) expect(answer.status).toBe("changed");
    expect(most.mock.calls.flat()).toEqual([1]);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(listeners).toBe(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(listeners).toBe(0);
  });

  it("keeps no more than so many watches that nobody waits for", async () => {
    const { flaky, items } = backend();
    const client = serve(flaky.link);
    let listeners = 0;
    const subscribe = items.subscribe.bind(items);
    vi.spyOn(items, "subscribe").mockImplementation((tell) => {
      listeners += 1;
      const stop = subscribe(tell);
      return () => {
        listeners -= 1;
        stop();
      };
    });
    for (let n = 0; n < 320; n += 64) {
      await cursorOf(client, ...Array.from({ length: 64 }, (_each, index) => at(`items/${n + index}`)));
    }
    await turns();
    expect(listeners).toBe(256);
    await client.close();
    expect(listeners).toBe(0);
  });
});

describe("wait_for_change across a watch that has lapsed", () => {
  it.each([
    ["changed", 1],
    ["timed_out", 0],
  ])("answers %s when the value is now %d, which was 0", async (status, next) => {
    vi.useFakeTimers();
    const back = backend();
    const client = serve(back.flaky.link);
    const cursor = cursorOf(client, state);
    await vi.advanceTimersByTimeAsync(600);
    const since = await cursor;
    await vi.advanceTimersByTimeAsync(40_000);
    back.state.set(7);
    back.state.set(next);
    const waiting = waitFor(client, [state], { since, timeout_ms: 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await waiting).toMatchObject({ status });
  });

  it("goes on with the cursor of another process of the same server", async () => {
    const back = backend();
    const since = await cursorOf(serve(back.flaky.link), state, other);
    back.state.set(1);
    const client = serve(back.flaky.link);
    const answer = await waitFor(client, [state, other], { since });
    expect(answer).toMatchObject({ status: "changed", changed: [state] });
    expect(await waitFor(client, [state, other], { since: answer.cursor, timeout_ms: 0 })).toMatchObject({
      status: "timed_out",
    });
  });

  it("can tell an unchanged value also by a cursor that was asked for while its connection was slow to come", async () => {
    const back = backend();
    const slow: Link = {
      async connect(asked, options) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return back.flaky.link.connect(asked, options);
      },
    };
    const since = await cursorOf(serve(slow), state);
    const answer = await waitFor(serve(back.flaky.link), [state], { since, timeout_ms: 50 });
    expect(answer).toMatchObject({ status: "timed_out" });
  });

  it("tells of a value that was never known when the watch had lapsed, since it may have changed", async () => {
    const back = backend();
    back.flaky.down();
    const since = await cursorOf(serve(back.flaky.link), state);
    back.flaky.up();
    expect(await waitFor(serve(back.flaky.link), [state], { since })).toMatchObject({ status: "changed" });
  });
});

describe("wait_for_change without a backend", () => {
  it("waits until its time is up, and a cursor that it was given still counts", async () => {
    const back = backend();
    const before = await cursorOf(serve(back.flaky.link), state);
    back.flaky.down();
    const client = serve(back.flaky.link);
    const answer = await waitFor(client, [state], { since: before, timeout_ms: 50 });
    expect(answer).toMatchObject({ status: "timed_out", changed: [] });
    back.state.set(1);
    back.flaky.up();
    expect(await waitFor(client, [state], { since: answer.cursor })).toMatchObject({ status: "changed" });
  });

  it("survives a restart: a value that comes back equal is no change, one that differs is", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const answers: string[] = [];
    const uris = [state, other, at("config"), at("items"), at("items/a"), at("items/b")];
    const waiting = waitFor(client, uris).then((answer) => answers.push(...answer.changed));
    await turns();
    for (let restart = 0; restart < 3; restart += 1) {
      const { dials } = back.flaky;
      back.flaky.down();
      const next = back.make();
      closers.push(() => next.close());
      // As an implementation of the same surface in another process would look.
      back.flaky.up(next as never);
      await vi.waitFor(() => expect(back.flaky.dials).toBeGreaterThan(dials), { timeout: 5000 });
      await turns();
      expect(answers).toEqual([]);
    }
    back.flaky.down();
    back.other.set(1);
    back.flaky.up();
    await waiting;
    expect(answers).toEqual([other]);
  });

  it("goes on from a cursor across a restart between two waits", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    const since = await cursorOf(client, state, other);
    back.flaky.down();
    back.state.set(1);
    back.flaky.up();
    expect(await waitFor(client, [state, other], { since })).toMatchObject({ status: "changed", changed: [state] });
  });
});

describe("a loop of waits", () => {
  it("misses no change when writes come at any moment", async () => {
    const back = backend();
    const client = serve(back.flaky.link);
    let since = await cursorOf(client, state);
    // A fixed sequence: a seed is a reproduction.
    let seed = 42;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const pause = async (): Promise<void> => {
      for (let turn = random(4); turn > 0; turn -= 1) {
        await (random(2) === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve)));
      }
    };
    for (let n = 1; n <= 300; n += 1) {
      await pause();
      const early = random(2) === 0;
      if (early) back.state.set(n);
      const waiting = waitFor(client, [state], { since });
      await pause();
      if (!early) back.state.set(n);
      const answer = await waiting;
      expect(answer.status).toBe("changed");
      since = answer.cursor;
      expect(await client.read("state")).toBe(n);
    }
  });
});
