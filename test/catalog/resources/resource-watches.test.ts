import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { inProcess } from "../../../src/links/in-process.ts";
import type { Connection, Link } from "../../../src/links/link.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import { cell, collection, event, stream, procedure } from "../../../src/surface/define-members.ts";
import type { Operation, SubscribeVerb, SurfaceChannel } from "../../../src/surface/channel.ts";
import { defineSurface, type Surface } from "../../../src/surface/define-surface.ts";
import { implementSurface, type LiveSurface } from "../../../src/surface/implement-surface.ts";
import type { Spec } from "../../../src/surface/member.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { readOnly } from "../../../src/tags/read-only.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { flakyBackend } from "./flaky-backend.ts";
import { watchesOf } from "./watches-of.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";

const text = z.string();

const surface = defineSurface("watched", {
  state: mcpResource(cell({ schema: z.object({ n: z.number(), at: z.date() }) })),
  items: mcpResource(collection({ key: text, schema: z.number() })),
  log: mcpResource(stream({ output: text })),
  settled: mcpResource(event({ output: text })),
  slow: mcpResource(cell({ schema: z.number() }), { windowMs: 60_000 }),
  hidden: cell({ schema: text }),
});

/** Says what it is told to, and waits for more. */
function queue() {
  const said: string[] = [];
  let wake: () => void = () => {};
  return {
    say(what: string): void {
      said.push(what);
      wake();
    },
    async *run(): AsyncGenerator<string> {
      for (let next = 0; ;) {
        for (; next < said.length; next += 1) yield said[next] ?? "";
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const epoch = new Date(0);

function backend() {
  const state = cellSource({ n: 0, at: epoch });
  const items = cellSource<ReadonlyMap<string, number>>(new Map([["a", 1]]));
  const slow = cellSource(0);
  const log = queue();
  const settled = queue();
  const make = () =>
    implementSurface(surface, {
      state,
      items,
      slow,
      log: () => log.run(),
      settled: () => settled.run(),
      hidden: cellSource("secret"),
    });
  return { state, items, slow, log, settled, make, flaky: flakyBackend(make()) };
}

/** A link over which watchers hear of each change a while after it has come about. */
function lateLink(live: LiveSurface<Spec>): Link {
  const inner = inProcess(live);
  const connect = async (asked: Surface<Spec>): Promise<Connection<Spec>> => {
    const connection = await inner.connect(asked);
    const { channel: base } = connection;
    async function* late(use: Operation<SubscribeVerb>): AsyncGenerator {
      for await (const one of base.subscribe(use)) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield one;
      }
    }
    const channel: SurfaceChannel = { request: (use) => base.request(use), subscribe: late };
    return { ...connection, channel, isRemote: true };
  };
  // The surface that is asked for says what the connection's members are.
  return { connect: connect as unknown as Link["connect"] };
}

const open: AppRuntime[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((runtime) => runtime.close()));
});

function serve(link: Link): AppRuntime {
  const runtime = mcp(surface, { changeWindowMs: 0, onFault: () => {} })
    .bridge(link)
    .open();
  open.push(runtime);
  return runtime;
}

const uri = (path: string): string => `surface://watched/${path}`;

function watch(runtime: Pick<AppRuntime, "resources">, at: string, changed: () => void): (() => void) | undefined {
  return runtime.resources.watch(anonymous, at, { changed, opened: () => {} });
}

/** The text under a URI, or the error in its place. */
async function read(runtime: AppRuntime, path: string): Promise<unknown> {
  const request = { era: "modern", call: new CallContext() } as const;
  const answer = await handlersOf(runtime)["resources/read"]({ uri: uri(path) }, request);
  return answer.kind === "error" ? { code: answer.code, message: answer.message, data: answer.data } : answer.body;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("ResourceWatches.watch()", () => {
  type Backend = ReturnType<typeof backend>;
  it.each([
    ["a cell", "state", ({ state }: Backend) => state.set({ n: 1, at: epoch })],
    ["the keys of a collection", "items", ({ items }: Backend) => items.set(new Map([["b", 1]]))],
    ["an item that changes", "items/a", ({ items }: Backend) => items.set(new Map([["a", 2]]))],
    ["an item that goes", "items/a", ({ items }: Backend) => items.set(new Map())],
    ["an item that comes", "items/b", ({ items }: Backend) => items.set(new Map([["b", 2]]))],
    ["a stream", "log", ({ log }: Backend) => log.say("line")],
    ["an event", "settled", ({ settled }: Backend) => settled.say("green")],
  ])("watch() tells of %s once for each change, and never of the snapshot", async (_what, path, change) => {
    const back = backend();
    const runtime = serve(back.flaky.link);
    const changed = vi.fn<() => void>();
    const end = watch(runtime, uri(path), changed);
    await turns();
    expect(changed).not.toHaveBeenCalled();
    change(back);
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    end?.();
    end?.();
    back.state.set({ n: 9, at: epoch });
    back.items.set(new Map([["z", 9]]));
    back.log.say("more");
    back.settled.say("more");
    await turns();
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it.each(["hidden", "nope", "items/a/b", "items/%", "", "state/1"])(
    "watch() answers undefined for %j, and dials nothing",
    async (path) => {
      const { flaky } = backend();
      const runtime = serve(flaky.link);
      expect(watch(runtime, uri(path), () => {})).toBeUndefined();
      await turns();
      expect(flaky.dials).toBe(0);
    },
  );

  it("watch() leaves nothing behind when it has ended", async () => {
    const { flaky } = backend();
    const { watches, resources, close } = watchesOf(surface, flaky.link);
    for (let n = 0; n < 100; n += 1) {
      const ends = ["items", `items/${n}`, "state"].map((path) => watch({ resources }, uri(path), () => {}));
      if (n % 2 === 0) await turns();
      for (const end of ends) end?.();
    }
    expect(watches.size).toBe(0);
    await close();
  });

  it("watch() holds each member to its own window", async () => {
    const { flaky, slow, state } = backend();
    const runtime = serve(flaky.link);
    const [often, seldom] = [vi.fn<() => void>(), vi.fn<() => void>()];
    watch(runtime, uri("state"), often);
    watch(runtime, uri("slow"), seldom);
    await turns();
    for (let n = 1; n <= 6; n += 1) {
      slow.set(n);
      state.set({ n, at: epoch });
      await turns();
    }
    expect([often.mock.calls.length, seldom.mock.calls.length]).toEqual([6, 4]);
  });

  it("watch() announces what changed while there was no backend", async () => {
    const { flaky, state } = backend();
    const runtime = serve(flaky.link);
    const changed = vi.fn<() => void>();
    watch(runtime, uri("state"), changed);
    await turns();
    flaky.down();
    state.set({ n: 5, at: epoch });
    flaky.up();
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    expect(await read(runtime, "state")).toContain('\\"n\\":5');
  });
});

describe("a read of what is watched", () => {
  const cold = ["state", "items", "items/a", "items/nope", "settled", "log"] as const;

  it.each(cold)("gives the same answer of %s warm and cold, and asks nothing warm", async (path) => {
    const back = backend();
    back.log.say("line");
    back.settled.say("green");
    const runtime = serve(back.flaky.link);
    const answer = await read(runtime, path);
    watch(runtime, uri(path), () => {});
    await turns();
    expect(await read(runtime, path)).toEqual(answer);
    const { dials } = back.flaky;
    expect(await read(runtime, path)).toEqual(answer);
    expect(back.flaky.dials).toBe(dials);
  });

  it("asks the backend for nothing while the newest value is known", async () => {
    const { flaky, state } = backend();
    const get = vi.spyOn(state, "get");
    const runtime = serve(flaky.link);
    const end = watch(runtime, uri("state"), () => {});
    await turns();
    const before = get.mock.calls.length;
    for (let n = 0; n < 10; n += 1) await read(runtime, "state");
    expect(get.mock.calls.length).toBe(before);
    end?.();
    await read(runtime, "state");
    expect(get.mock.calls.length).toBeGreaterThan(before);
  });

  it("writes each value once, however often it is read", async () => {
    let writes = 0;
    const value = {
      get n() {
        writes += 1;
        return writes;
      },
    };
    const odd = defineSurface("odd", { value: mcpResource(cell({ schema: z.any() })) });
    const live = implementSurface(odd, { value: cellSource<unknown>(value) });
    const runtime = mcp(odd).bridge(flakyBackend(live).link).open();
    open.push(runtime);
    watch(runtime, "surface://odd/value", () => {});
    await turns();
    const request = { era: "modern", call: new CallContext() } as const;
    const first = await handlersOf(runtime)["resources/read"]({ uri: "surface://odd/value" }, request);
    const again = await handlersOf(runtime)["resources/read"]({ uri: "surface://odd/value" }, request);
    expect(again).toEqual(first);
  });

  it("gives what a call has written when it is read as soon as the call has answered", async () => {
    const note = defineSurface("note", {
      value: mcpResource(cell({ schema: z.number() })),
      bump: mcpTool(procedure({ output: z.number() })),
    });
    const value = cellSource(0);
    const bump = (): number => {
      value.set(value.get() + 1);
      return value.get();
    };
    const client = createTestClient(mcp(note).implement({ value, bump }));
    await client.watch("value", () => {});
    for (let n = 1; n <= 20; n += 1) {
      await client.tools.bump();
      const { contents } = await client.request("resources/read", { uri: "surface://note/value" });
      expect(contents).toMatchObject([{ text: String(n) }]);
    }
    await client.close();
  });

  it("gives what a call has written where its watchers hear of it late, and is warm again once that is read", async () => {
    const note = defineSurface("note", {
      value: mcpResource(cell({ schema: z.number() })),
      bump: mcpTool(procedure({ output: z.number() })),
      look: readOnly(mcpTool(procedure({ output: z.number() }))),
    });
    const value = cellSource(0);
    const get = vi.spyOn(value, "get");
    const live = implementSurface(note, {
      value,
      bump: () => {
        value.set(value.get() + 1);
        return value.get();
      },
      look: () => 0,
    });
    const runtime = mcp(note)
      .bridge(lateLink({ ...live }))
      .open();
    open.push(runtime);
    const request = { era: "modern", call: new CallContext() } as const;
    const readValue = async (): Promise<unknown> => {
      const answer = await handlersOf(runtime)["resources/read"]({ uri: "surface://note/value" }, request);
      return answer.kind === "error" ? answer : JSON.parse(`{${answer.body}}`).contents[0].text;
    };
    const call = (name: string): unknown =>
      handlersOf(runtime)["tools/call"]({ name }, { era: "modern", call: new CallContext() });
    await new Promise<void>((resolve) => {
      runtime.resources.watch(anonymous, "surface://note/value", { changed: () => {}, opened: () => resolve() });
    });
    for (let n = 1; n <= 5; n += 1) {
      await call("bump");
      expect(await readValue()).toBe(String(n));
    }
    await vi.waitFor(async () => {
      const before = get.mock.calls.length;
      expect(await readValue()).toBe("5");
      expect(get.mock.calls.length).toBe(before);
    });
    await call("look");
    const before = get.mock.calls.length;
    expect(await readValue()).toBe("5");
    expect(get.mock.calls.length).toBe(before);
  });

  it("never goes back behind what a call has left, whatever its watchers still hear of before that", async () => {
    const note = defineSurface("note", {
      value: mcpResource(cell({ schema: z.string() })),
      work: mcpTool(procedure({ output: z.string() })),
    });
    const value = cellSource("idle");
    const live = implementSurface(note, {
      value,
      async work() {
        value.set("running");
        await turns();
        value.set("done");
        return value.get();
      },
    });
    const runtime = mcp(note)
      .bridge(lateLink({ ...live }))
      .open();
    open.push(runtime);
    const request = { era: "modern", call: new CallContext() } as const;
    await new Promise<void>((resolve) => {
      runtime.resources.watch(anonymous, "surface://note/value", { changed: () => {}, opened: () => resolve() });
    });
    await handlersOf(runtime)["tools/call"]({ name: "work" }, request);
    const found = new Set<unknown>();
    for (const until = performance.now() + 150; performance.now() < until;) {
      const params = { uri: "surface://note/value" };
      found.add(await handlersOf(runtime)["resources/read"](params, { era: "modern", call: new CallContext() }));
      await turns();
    }
    expect(JSON.stringify([...found])).not.toMatch(/running|idle/);
  });

  it("never goes back behind what a read has told, where that has overtaken the watch", async () => {
    const note = defineSurface("note", { value: mcpResource(cell({ schema: z.number() })) });
    const value = cellSource(0);
    const runtime = mcp(note)
      .bridge(lateLink({ ...implementSurface(note, { value }) }))
      .open();
    open.push(runtime);
    const readValue = async (): Promise<number> => {
      const params = { uri: "surface://note/value" };
      const answer = await handlersOf(runtime)["resources/read"](params, { era: "modern", call: new CallContext() });
      return Number(JSON.parse(answer.kind === "error" ? "{}" : `{${answer.body}}`).contents[0].text);
    };
    runtime.resources.watch(anonymous, "surface://note/value", { changed: () => {} });
    const found: number[] = [];
    for (let n = 1; n <= 60; n += 1) {
      if (n % 4 === 0) value.set(n);
      found.push(await readValue());
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(found).toEqual(found.toSorted((left, right) => left - right));
  });

  it("is not warm of a stream that has ended: reading that starts it anew", async () => {
    let runs = 0;
    const once = defineSurface("once", { log: mcpResource(stream({ output: z.number() })) });
    const app = mcp(once).implement({
      async *log() {
        runs += 1;
        yield runs;
      },
    });
    const client = createTestClient(app);
    await client.watch("log", () => {});
    await turns();
    const found: unknown[] = [];
    for (let n = 0; n < 4; n += 1) {
      found.push(await client.read("log"));
      await turns();
    }
    expect(new Set(found).size).toBeGreaterThan(1);
    await client.close();
  });

  it("gives each new value", async () => {
    const { flaky, state } = backend();
    const runtime = serve(flaky.link);
    watch(runtime, uri("state"), () => {});
    for (let n = 1; n <= 5; n += 1) {
      state.set({ n, at: epoch });
      await turns();
      expect(await read(runtime, "state")).toContain(`\\"n\\":${n}`);
    }
  });

  it("waits for the first frame of a stream that has said nothing, watched or not", async () => {
    const { flaky, log } = backend();
    const runtime = serve(flaky.link);
    watch(runtime, uri("log"), () => {});
    await turns();
    const reading = read(runtime, "log");
    log.say("first");
    expect(await reading).toContain("first");
  });

  it("asks the backend where the value that is known cannot be written", async () => {
    const faults: unknown[] = [];
    const odd = defineSurface("odd", { value: mcpResource(cell({ schema: z.unknown() })) });
    const source = cellSource<unknown>(10n);
    const app = mcp(odd, { onFault: (fault) => faults.push(fault) }).implement({ value: source });
    const runtime = app.open();
    open.push(runtime);
    watch(runtime, "surface://odd/value", () => {});
    await turns();
    const request = { era: "modern", call: new CallContext() } as const;
    const params = { uri: "surface://odd/value" };
    expect(await handlersOf(runtime)["resources/read"](params, request)).toMatchObject({
      data: { code: "UNSERIALISABLE" },
    });
    expect(faults).toHaveLength(1);
  });
});

describe("a read of what is not there", () => {
  const never: Link = { connect: () => new Promise(() => {}) };

  it.each(["hidden", "nope", "items/a/b", "items/%"])(
    "says at once that %s is unknown, backend or none",
    async (path) => {
      const unknown = { code: -32_602, message: "Resource not found", data: { uri: uri(path) } };
      expect(await read(serve(never), path)).toEqual(unknown);
      expect(await read(serve(backend().flaky.link), path)).toEqual(unknown);
    },
  );

  it("says at once that there is nothing under an absent key, in the code of each era", async () => {
    const runtime = serve(backend().flaky.link);
    const data = { code: "ABSENT", uri: uri("items/nope") };
    const message = "There is nothing under this URI now";
    expect(await read(runtime, "items/nope")).toEqual({ code: -32_602, message, data });
    const request = { era: "legacy", call: new CallContext() } as const;
    const params = { uri: uri("items/nope") };
    expect(await handlersOf(runtime)["resources/read"](params, request)).toMatchObject({
      code: -32_002,
      message,
      data,
    });
  });
});
