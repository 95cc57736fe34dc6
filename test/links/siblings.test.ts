import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { childProcess } from "../../src/links/child-process.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { siblingLinks, surfaceClients } from "../../src/links/sibling-links.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { listenWebSocket, webSocket } from "../../src/links/web-socket.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface, implementSurfaces } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { noteRejections, settle } from "../surface/support.ts";
import { operationsOf } from "../surface/uses-of.ts";
import { notes, pipeline, startNotes, startPipeline } from "./support/siblings.ts";
import { afterThis, newFolder } from "./unix/support.ts";
import * as z from "zod";

const fixture = await bundleScript(new URL("stdio/fixtures/siblings-server.ts", import.meta.url), "siblings-server");

/** Two siblings somewhere, a link to both, and what drops the second. */
interface Stage {
  readonly link: Link;
  readonly drop: () => void;
}

function startHere() {
  const [one, other] = [startPipeline(), startNotes()];
  const both = implementSurfaces({ pipeline: one.live, notes: other.live });
  afterThis(async () => {
    await both.close();
    await Promise.all([one.live.close(), other.live.close()]);
  });
  return { one, other, both, drop: () => void other.live.close() };
}

const stages: readonly { name: string; open: () => Promise<Stage> }[] = [
  {
    name: "in process",
    async open() {
      const { both, drop } = startHere();
      return { link: inProcess(both), drop };
    },
  },
  {
    name: "over a unix socket",
    async open() {
      const { both, drop } = startHere();
      const path = join(await newFolder(), "s.sock");
      await listenUnixSocket(both, path);
      return { link: unixSocket(path), drop };
    },
  },
  {
    name: "over a web socket",
    async open() {
      const { both, drop } = startHere();
      const { url } = await listenWebSocket(both, { port: 0 });
      return { link: webSocket(url), drop };
    },
  },
  {
    name: "over a child process",
    async open() {
      let stderr = "";
      const link = childProcess(process.execPath, [fixture], {
        onStderr: (text) => (stderr += text),
      });
      return { link, drop: () => void process.kill(Number(/.*pid (\d+)/s.exec(stderr)?.[1]), "SIGUSR2") };
    },
  },
];

interface Clients {
  readonly nobody: { readonly nodes: { get(): Promise<unknown> } };
  readonly notes: { readonly nodes: { get(): Promise<string> } };
}

const outcome = (use: Promise<unknown>): Promise<unknown> => use.catch((cause: unknown) => cause);
const failing = (code: string) => expect.objectContaining({ code });

describe.each(stages)("siblings $name", { timeout: 30_000 }, ({ name, open }) => {
  const isProcess = name.includes("process") && !name.startsWith("in ");

  it("are used over one connection, by their own keys", async () => {
    const { link } = await open();
    let connects = 0;
    const counting: Link = { connect: (surface, use) => ((connects += 1), link.connect(surface, use)) };
    const { clients, closed, close } = await surfaceClients(counting, { a: pipeline, b: notes });
    afterThis(close);
    expect(await clients.a.nodes.get()).toBe(1);
    expect(await clients.b.nodes.get()).toBe("one");
    expect(await clients.a["node.rerun"].call({ node: "x" })).toBe("again x");
    expect(await clients.b.bump.call()).toBe(1);
    expect(await outcome(clients.a["node.rerun"].call({ node: 5 } as never))).toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "node" }],
    });
    expect(connects).toBe(1);
    await close();
    expect(await closed).toEqual({ kind: "closed" });
  });

  it("are used as one composed surface, composed again, in part, and each by its own name", async () => {
    const { link } = await open();
    const inner = composeSurfaces("pipeline", { x: pipeline, y: notes });
    const composed = await link.connect(composeSurfaces("all", { inner, again: notes }));
    expect(await composed.client["inner.x.nodes"].get()).toBe(1);
    expect(await composed.client["inner.y.nodes"].get()).toBe("one");
    expect(await composed.client["again.nodes"].get()).toBe("one");
    await composed.close();
    const part = await link.connect(composeSurfaces("part", { z: notes }));
    expect(await part.client["z.nodes"].get()).toBe("one");
    await part.close();
    const alone = await link.connect(pipeline);
    expect(await alone.client.nodes.get()).toBe(1);
    await alone.close();
  });

  it("refuse a surface that is not there, and answer for those that are when some are not", async () => {
    const { link } = await open();
    const nobody = defineSurface("nobody", { nodes: cell({ schema: z.number() }) });
    expect(await outcome(link.connect(nobody))).toEqual(failing("UNKNOWN_MEMBER"));
    expect(await outcome(surfaceClients(link, { nobody }))).toEqual(failing("UNKNOWN_MEMBER"));
    const some = await surfaceClients(link, { nobody, notes }).catch((cause: unknown) => cause);
    // In process that is known at once.
    const opened =
      some instanceof SurfaceError ? undefined : (some as { clients: Clients; close: () => Promise<void> });
    const use = opened?.clients.nobody.nodes.get() ?? Promise.reject(some);
    expect(await outcome(use)).toEqual(failing("CONTRACT_MISMATCH"));
    expect((await opened?.clients.notes.nodes.get()) ?? "one").toBe("one");
    await opened?.close();
  });

  it("go on when one is dropped, whose uses end with DROPPED, whatever they were", async () => {
    const rejections = noteRejections();
    const { link, drop } = await open();
    const { clients, closed, close } = await surfaceClients(link, { a: pipeline, b: notes });
    afterThis(close);
    let end = "";
    void closed.then(({ kind }) => (end = kind));
    const watch = clients.b.nodes.watch()[Symbol.asyncIterator]();
    const other = clients.a.nodes.watch()[Symbol.asyncIterator]();
    expect([(await watch.next()).value, (await other.next()).value]).toEqual(["one", 1]);
    const cut = [
      outcome(watch.next()),
      outcome(clients.b.rung.wait(undefined, { timeoutMs: 60_000 })),
      outcome(clients.b.look.call()),
    ];
    const change = outcome(clients.b.slow.call());
    await clients.b.bump.call();
    drop();
    expect(await Promise.all(cut)).toEqual(cut.map(() => failing("DROPPED")));
    expect(await change).toEqual(failing("OUTCOME_UNKNOWN"));
    expect(await outcome(clients.b.nodes.get())).toEqual(failing("DROPPED"));
    expect(await outcome(clients.b.bump.call())).toEqual(failing("DROPPED"));
    expect(await outcome(clients.b.nodes.watch()[Symbol.asyncIterator]().next())).toEqual(failing("DROPPED"));
    expect(await clients.a.nodes.get()).toBe(1);
    expect(await clients.a["node.rerun"].call({ node: "x" })).toBe("again x");
    await other.return?.();
    await settle(9);
    expect(end).toBe("");
    // Whoever comes later hears the same.
    const later = isProcess ? clients.b.nodes.get() : link.connect(notes);
    expect(await outcome(later)).toEqual(failing("DROPPED"));
    expect(rejections.end()).toEqual([]);
  });

  it("end the connection of whoever used the dropped one alone, and nobody else's", async () => {
    const { link, drop } = await open();
    // Each connection to a process has a process of its own: the one that drops is the last that was started.
    const apart = await link.connect(pipeline);
    const alone = await link.connect(notes);
    afterThis(() => Promise.all([alone.close(), apart.close()]));
    await alone.client.bump.call();
    drop();
    expect(await alone.closed).toMatchObject({ kind: "gone" });
    expect(await apart.client.nodes.get()).toBe(1);
  });
});

describe("implementSurfaces()", () => {
  it("refuses what is no live surface, one that is closed, none at all, and a segment that is none", async () => {
    const { live } = startNotes();
    const refusal = (siblings: object) => () => implementSurfaces(siblings as { a: typeof live });
    expect(refusal({ a: { surface: notes } })).toThrow(failing("INVALID_OPTION"));
    expect(refusal({ a: null })).toThrow(failing("INVALID_OPTION"));
    expect(refusal({})).toThrow(failing("INVALID_OPTION"));
    expect(refusal({ "a.b": live })).toThrow(failing("INVALID_NAME"));
    await live.close();
    expect(refusal({ a: live })).toThrow(failing("CLOSED"));
  });

  it("ends every connection when it is closed, and no live surface", async () => {
    const { one, both } = startHere();
    const [composed, alone] = [
      await inProcess(both).connect(composeSurfaces("x", { pipeline, notes })),
      await inProcess(both).connect(pipeline),
    ];
    await both.close();
    expect(await composed.closed).toEqual({ kind: "gone" });
    expect(await alone.closed).toEqual({ kind: "gone" });
    expect(await outcome(inProcess(both).connect(pipeline))).toEqual(failing("CLOSED"));
    expect(await (await inProcess(one.live).connect(pipeline)).client.nodes.get()).toBe(1);
  });

  it("finds two live surfaces of one name by their segments, and neither where that is not said", async () => {
    const [east, west] = [startPipeline(), startPipeline()];
    west.nodes.set(2);
    const both = implementSurfaces({ east: east.live, west: west.live });
    const link = inProcess(both);
    const { clients } = await surfaceClients(link, { west: pipeline, east: pipeline });
    expect([await clients.east.nodes.get(), await clients.west.nodes.get()]).toEqual([1, 2]);
    expect(await outcome(link.connect(pipeline))).toEqual(failing("UNKNOWN_MEMBER"));
    expect(await outcome(surfaceClients(link, { north: pipeline }))).toEqual(failing("UNKNOWN_MEMBER"));
    await Promise.all([both.close(), east.live.close(), west.live.close()]);
  });

  it("is not needed for a surface that is composed and implemented as one, nor for a single sibling", async () => {
    const composed = composeSurfaces("notes", { notes: defineSurface("notes", { at: cell({ schema: z.number() }) }) });
    const live = implementSurface(composed, { "notes.at": cellSource(7) });
    expect(await (await inProcess(live).connect(composed)).client["notes.at"].get()).toBe(7);
    const { live: single } = startNotes();
    const { clients } = await surfaceClients(inProcess(single), { n: notes });
    expect(await clients.n.nodes.get()).toBe("one");
    await Promise.all([live.close(), single.close()]);
  });
});

describe("a surface that is composed and implemented as one", () => {
  it("is reached by its own name over every link, alone, beside others and behind a link of its own", async () => {
    const { live: beside } = startPipeline();
    const one = defineSurface("one", { at: cell({ schema: z.number() }), ask: procedure({ output: z.string() }) });
    const composed = composeSurfaces("composed", { a: one, b: one });
    const live = implementSurface(composed, {
      "a.at": cellSource(1),
      "a.ask": () => "a",
      "b.at": cellSource(2),
      "b.ask": () => "b",
    });
    const both = implementSurfaces({ beside, composed: live });
    afterThis(async () => {
      await both.close();
      await Promise.all([live.close(), beside.close()]);
    });
    const folder = await newFolder();
    const links: Link[] = [];
    for (const [index, served] of [live, both].entries()) {
      const path = join(folder, `${index}.sock`);
      await listenUnixSocket(served, path);
      const { url } = await listenWebSocket(served, { port: 0 });
      links.push(inProcess(served), unixSocket(path), webSocket(url));
    }
    for (const link of links) {
      const connection = await link.connect(composed);
      const { client } = connection;
      expect([await client["a.at"].get(), await client["b.at"].get()]).toEqual([1, 2]);
      expect([await client["a.ask"].call(), await client["b.ask"].call()]).toEqual(["a", "b"]);
      await connection.close();
      const behind = await siblingLinks({ x: link }).connect(composeSurfaces("outer", { x: composed }));
      expect(await behind.client["x.b.ask"].call()).toBe("b");
      await behind.close();
    }
  });
});

describe("an app over one sibling of several", () => {
  it("is told DROPPED and does not wait when that one was dropped", async () => {
    const { both, drop } = startHere();
    const held = new ReconnectingSurface({ link: inProcess(both), surface: notes });
    expect(await operationsOf(held.channel).get("nodes", {})).toBe("one");
    drop();
    await settle();
    expect(await outcome(operationsOf(held.channel).get("nodes", {}))).toEqual(failing("DROPPED"));
    expect(await outcome(operationsOf(held.channel).call("bump", undefined, {}))).toEqual(failing("DROPPED"));
    await held.close();
  });
});
