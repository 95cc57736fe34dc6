import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import { LingeringWatches } from "../../../src/catalog/resources/change-waits.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { changes } from "./told-changes.ts";
import { watchesOf } from "./watches-of.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";

const numbers = { key: z.string(), schema: z.number() };

const surface = defineSurface("own", {
  open: mcpResource(collection(numbers), { listItems: true }),
  closed: mcpResource(collection(numbers), { listItems: true, scopes: ["closed"] }),
});

type Numbers = ReadonlyMap<string, number>;
const of = (...keys: string[]): Numbers => new Map(keys.map((key) => [key, 1]));

const known = (id: string, ...more: string[]): Caller => ({ id, isAnonymous: false, scopes: ["own:read", ...more] });
const [ann, bob] = [known("ann"), known("bob")];
const me = "surface://own/me";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An app whose hand-written resources say who reads them, and how often that has changed for whom. */
function serve() {
  const sources = { open: cellSource(of("a")), closed: cellSource(of("x")) };
  const live = implementSurface(surface, sources);
  const said = new Map<string, ReturnType<typeof changes>>();
  const counts = new Map<string, number>();
  const saidTo = (id: string): ReturnType<typeof changes> => {
    const found = said.get(id) ?? changes();
    said.set(id, found);
    return found;
  };
  const runtime = mcp(surface, { changeWindowMs: 0, pageSize: 3, onFault: () => {} })
    .pull()
    .bridge(inProcess(live))
    .resources({
      me: {
        windowMs: 0,
        read: (_none, { caller }) => `${caller.id} ${caller.scopes.length} ${counts.get(caller.id) ?? 0}`,
        watch: (_none, { caller }) => saidTo(caller.id).run(),
      },
      secret: { scopes: ["more"], read: () => "secret" },
    })
    .open();
  closing.push(
    () => runtime.close(),
    () => live.close(),
  );
  const tell = (id: string): void => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    saidTo(id).tell();
  };
  return { runtime, tell, ...sources };
}

async function read(runtime: AppRuntime, caller: Caller, uri = me): Promise<unknown> {
  const request = { era: "modern", call: new CallContext({ caller }) } as const;
  const answer = await handlersOf(runtime)["resources/read"]({ uri }, request);
  return answer.kind === "error" ? answer : JSON.parse(JSON.parse(`{${answer.body}}`).contents[0].text);
}

async function call(runtime: AppRuntime, caller: Caller, [name, args]: readonly [string, object]) {
  const request = { era: "modern", call: new CallContext({ caller }) } as const;
  const answer = await handlersOf(runtime)["tools/call"]({ name, arguments: { ...args } }, request);
  if (answer.kind === "error") throw new Error(answer.message);
  const body = JSON.parse(`{${answer.body}}`);
  return { ...body.structuredContent, isError: body.isError === true, text: String(body.content[0].text) };
}

function watch(runtime: AppRuntime, caller: Caller, uri = me) {
  const heard = { count: 0, end: (): void => {} };
  const opened = new Promise<void>((resolve) => {
    heard.end =
      runtime.resources.watch(caller, uri, { changed: () => void (heard.count += 1), opened: () => resolve() }) ??
      heard.end;
  });
  return { heard, opened };
}

async function listed(runtime: AppRuntime, caller: Caller, params = {}) {
  const request = { era: "modern", call: new CallContext({ caller }) } as const;
  const answer = await handlersOf(runtime)["resources/list"](params, request);
  if (answer.kind === "error") return { names: [answer.message], cursor: undefined };
  const { resources, nextCursor } = JSON.parse(`{${answer.body}}`);
  return { names: resources.map((each: { name: string }) => each.name), cursor: nextCursor };
}

async function listedAll(runtime: AppRuntime, caller: Caller): Promise<readonly string[]> {
  const all: string[] = [];
  for (let params = {}; ;) {
    const { names, cursor } = await listed(runtime, caller, params);
    all.push(...names);
    if (cursor === undefined) return all;
    params = { cursor };
  }
}

describe("a hand-written resource that is another for each caller", () => {
  it("answers each their own in 1,000 interleaved reads, watched or not, and tells only who it changed for", async () => {
    const { runtime, tell } = serve();
    const callers = [ann, bob, known("ann", "more"), anonymous];
    const expected = callers.map(({ id, scopes }) => `${id} ${scopes.length} 0`);
    const readAll = (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 1000 }, (_none, index) => read(runtime, callers[index % 4] ?? ann)));
    const all = Array.from({ length: 1000 }, (_none, index) => expected[index % 4]);
    expect(await readAll()).toEqual(all);
    // Only some watch: the others must not be answered with what those see.
    const [hers, his] = [watch(runtime, ann), watch(runtime, bob)];
    await Promise.all([hers.opened, his.opened]);
    expect(await readAll()).toEqual(all);
    tell("ann");
    await expect.poll(() => hers.heard.count).toBe(1);
    expect(his.heard.count).toBe(0);
    expect([await read(runtime, ann), await read(runtime, bob)]).toEqual(["ann 1 1", "bob 1 0"]);
    for (const { heard } of [hers, his]) heard.end();
    expect([await read(runtime, bob), await read(runtime, ann)]).toEqual(["bob 1 0", "ann 1 1"]);
  });

  it("is read, and waited for, as who calls the pull tools sees it", async () => {
    const { runtime, tell } = serve();
    const readBy = async (caller: Caller): Promise<unknown> =>
      (await call(runtime, caller, ["read_resource", { uri: me }])).value;
    const waitBy = (caller: Caller, more: object) =>
      call(runtime, caller, ["wait_for_change", { uris: [me], timeout_ms: 1500, ...more }]);
    const [hers, his] = await Promise.all([ann, bob].map((caller) => waitBy(caller, { timeout_ms: 0 })));
    expect(await Promise.all([ann, bob, ann].map(readBy))).toEqual(["ann 1 0", "bob 1 0", "ann 1 0"]);
    const waits = [waitBy(ann, { since: hers.cursor }), waitBy(bob, { since: his.cursor })];
    tell("ann");
    expect((await Promise.all(waits)).map(({ status }) => status)).toEqual(["changed", "timed_out"]);
    expect(await Promise.all([ann, bob].map(readBy))).toEqual(["ann 1 1", "bob 1 0"]);
  });
});

describe("what a caller was not granted", () => {
  it("is not there for who reads or waits by a pull tool, as what nobody knows", async () => {
    const { runtime } = serve();
    const refusedBy = async (name: string, key: string): Promise<string> => {
      const uri = `surface://own/${key}`;
      const args = name === "read_resource" ? { uri } : { uris: [uri] };
      return (await call(runtime, ann, [name, args])).text.replaceAll(uri, "URI");
    };
    for (const name of ["read_resource", "wait_for_change"]) {
      const refused = await refusedBy(name, "secret");
      expect(refused).toContain("there is no resource");
      expect(refused).toBe(await refusedBy(name, "nothing"));
    }
    const granted = await call(runtime, known("ann", "more"), ["read_resource", { uri: "surface://own/secret" }]);
    expect(granted.value).toBe("secret");
  });

  it("cannot be watched, and lacking() names all that it takes", () => {
    const { runtime } = serve();
    const uri = "surface://own/secret";
    expect(runtime.resources.watch(ann, uri, { changed: () => {} })).toBeUndefined();
    expect(runtime.resources.lacking(ann, uri)).toEqual(["own:read", "more"]);
    expect([runtime.resources.lacking(known("ann", "more"), uri), runtime.resources.lacking(anonymous, uri)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(runtime.resources.lacking(ann, "surface://own/nothing")).toBeUndefined();
    const end = runtime.resources.watch(known("ann", "more"), uri, { changed: () => {} });
    expect(end).toBeTypeOf("function");
    end?.();
  });

  it("is not in the list of resources, nor are its items, and nothing is told when these change", async () => {
    const { runtime, open, closed } = serve();
    const granted = known("cid", "closed");
    expect(await listedAll(runtime, ann)).toEqual(["me", "open", "open/a"]);
    expect(await listedAll(runtime, granted)).toEqual(["closed", "closed/x", "me", "open", "open/a"]);
    const heard = { ann: 0, granted: 0 };
    const ends = [
      runtime.resources.watchList(ann, "resources", () => void (heard.ann += 1)),
      runtime.resources.watchList(granted, "resources", () => void (heard.granted += 1)),
    ];
    await Promise.all([listedAll(runtime, ann), listedAll(runtime, granted)]);
    closed.set(of("x", "y"));
    await expect.poll(() => heard.granted).toBe(1);
    expect(heard.ann).toBe(0);
    open.set(of("a", "b"));
    await expect.poll(() => heard).toEqual({ ann: 1, granted: 2 });
    for (const end of ends) end?.();
  });

  it("is not read on by the cursor of who may see it, whose pages stay what they were", async () => {
    const { runtime, open } = serve();
    const granted = known("cid", "closed");
    const [theirs, hers] = [await listed(runtime, granted), await listed(runtime, ann)];
    for (let n = 0; n < 10; n += 1) {
      open.set(of(`n${n}`));
      await listed(runtime, ann);
    }
    expect(await listed(runtime, granted, { cursor: theirs.cursor })).toMatchObject({
      names: ["open", "open/a"],
    });
    const stolen = await listed(runtime, ann, { cursor: theirs.cursor });
    expect(stolen.names).toEqual(["Invalid params: the cursor is unknown"]);
    // Forgotten by now: ten others have been shown to those who see the same.
    expect((await listed(runtime, ann, { cursor: hers.cursor })).names).toEqual(stolen.names);
  });
});

describe("ResourceWatches, for many callers", () => {
  const resource = { uriTemplate: "own://of/{n}", variables: z.object({ n: z.string() }), read: () => 1 };

  function many() {
    const live = implementSurface(surface, { open: cellSource(of()), closed: cellSource(of()) });
    const made = watchesOf(surface, inProcess(live), { resource });
    closing.push(
      () => made.close(),
      () => live.close(),
    );
    return made;
  }

  const uris = (count: number, start = 0): string[] =>
    Array.from({ length: count }, (_none, index) => `own://of/${start + index}`);

  it("keep nothing of a caller whose last watch has ended", () => {
    const { watches, resources } = many();
    const ends = Array.from({ length: 1000 }, (_none, index) =>
      resources.watch(known(`caller ${index}`), "own://of/1", { changed: () => {} }),
    );
    expect([watches.size, watches.callers]).toEqual([1000, 1000]);
    for (const end of ends) {
      end?.();
      end?.();
    }
    expect([watches.size, watches.callers]).toEqual([0, 0]);
  });

  it("leave three quarters of the room to others, whatever one caller watches", () => {
    const { resources } = many();
    expect([resources.hasRoom(ann, uris(512)), resources.hasRoom(ann, uris(513))]).toEqual([true, false]);
    const ends = uris(512).map((uri) => resources.watch(ann, uri, { changed: () => {} }));
    expect([resources.hasRoom(ann, uris(512)), resources.hasRoom(ann, uris(1, 512))]).toEqual([true, false]);
    // Another token of hers.
    expect(resources.hasRoom(known("ann", "more"), uris(1))).toBe(false);
    expect(resources.hasRoom(bob, uris(512))).toBe(true);
    ends[0]?.();
    expect(resources.hasRoom(ann, uris(1, 512))).toBe(true);
    for (const end of ends) end?.();
  });

  it("keep room for the lists that the app watches itself, which those who watch cannot take", () => {
    const { watches, resources } = many();
    const anybody = { ...anonymous, scopes: ["closed"] };
    expect([resources.hasRoom(anybody, uris(2046)), resources.hasRoom(anybody, uris(2047))]).toEqual([true, false]);
    const ends = uris(2046).map((uri) => resources.watch(anybody, uri, { changed: () => {} }));
    expect(resources.hasRoom(anybody, ["surface://own/open"])).toBe(true);
    const end = resources.watchList(anybody, "resources", () => {});
    expect(watches.size).toBe(2048);
    expect(resources.hasRoom(anybody, uris(1, 2046))).toBe(false);
    for (const each of [...ends, end]) each?.();
    expect(watches.size).toBe(0);
  });

  it("linger for one caller for a quarter of what lingers, and the oldest of theirs goes first", () => {
    const { watches } = many();
    const lingering = new LingeringWatches(watches);
    const keep = (uri: string, caller: Caller): void => {
      const resolved = watches.resolve(uri);
      if (resolved !== undefined) lingering.keep({ uri, resolved, caller });
    };
    keep("own://of/1", bob);
    for (const uri of uris(300)) keep(uri, ann);
    expect([lingering.size, watches.size]).toEqual([65, 65]);
    expect(watches.hasRoom(uris(1, 299), ann)).toBe(true);
    for (const uri of uris(300)) keep(uri, anonymous);
    expect(lingering.size).toBe(256);
    lingering.close();
    expect([watches.size, watches.callers]).toEqual([0, 0]);
  });
});
