import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../src/errors.ts";
import { listenUnixSocket, listenWebSocket, mcp, serveOverStdio } from "../../src/index.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface, implementSurfaces } from "../../src/surface/implement-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { settle, WatchedSource } from "../surface/support.ts";

const stockSchema = z.number();
const shop = defineSurface("shop", {
  open: cell({ schema: z.boolean() }),
  stock: collection({ key: z.string(), schema: stockSchema }),
  till: stream({ output: z.number() }),
  sold: event({ output: z.string(), replayLast: true }),
  buy: procedure({ input: z.string(), output: z.string() }),
  ring: procedure({}),
});

function openShop() {
  const source = new WatchedSource(true);
  let release = (): void => {};
  const live = implementSurface(shop, {
    open: source,
    stock: { keys: () => ["pen"], get: (key) => (key === "pen" ? 3 : undefined), subscribe: () => () => {} },
    till: async function* () {
      yield 1;
    },
    sold: async function* (_input, { signal }) {
      yield "pen";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    ring: () => undefined,
    buy: async (what) => {
      if (what === "slow") await new Promise<void>((resolve) => (release = resolve));
      return `one ${what}`;
    },
  });
  return { live, source, release: () => release() };
}

const listeners: readonly (readonly [string, (live: never) => unknown])[] = [
  ["inProcess()", (live) => inProcess(live)],
  ["listenUnixSocket()", (live) => listenUnixSocket(live, join(mkdtempSync(join(tmpdir(), "surface-")), "a.sock"))],
  ["listenWebSocket()", (live) => listenWebSocket(live, { port: 0 })],
  ["serveOverStdio()", (live) => serveOverStdio(live)],
];

describe.each(listeners)("%s", (_name, serve) => {
  it.each([
    ["an app", mcp(defineSurface("notes", {})).implement({})],
    ["something else", {}],
    ["something else", undefined],
  ])("refuses %s", async (found, value) => {
    const made = "a live surface, made by implementSurface() or implementSurfaces()";
    // The compiler refuses it as well.
    await expect((async () => serve(value as never))()).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(
        new RegExp(`^Cannot .*: the first argument must be ${made.replaceAll(/[()]/g, "\\$&")}, and is ${found}$`),
      ),
    });
  });
});

describe("inProcess()", () => {
  it("says in its state that the live surface is going before a subscription ends because of that", async () => {
    const { live } = openShop();
    const { channel, state, closed } = await inProcess(live).connect(shop);
    const values = channel.subscribe({ verb: "watch", member: "open", argument: undefined, options: {} });
    const iterator = values[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: true });
    const ended = iterator.next().then(() => state().kind);
    expect(state()).toEqual({ kind: "open" });
    const closing = live.close();
    expect(state().kind).not.toBe("open");
    expect(await ended).not.toBe("open");
    await closing;
    expect(await closed).toEqual({ kind: "gone" });
    expect(state()).toEqual({ kind: "ended", reason: { kind: "gone" } });
  });

  it("a held surface answers reads and calls that do not wait without a promise", async () => {
    const { live } = openShop();
    const held = new ReconnectingSurface({ link: inProcess(live), surface: shop });
    expect(held.channel.request({ verb: "get", member: "open", argument: undefined, options: {} })).toBe(true);
    expect(held.channel.request({ verb: "call", member: "ring", argument: undefined, options: {} })).toBeUndefined();
    await held.close();
    await live.close();
  });

  it("connect() gives a client for every kind of member", async () => {
    const { live } = openShop();
    const { client } = await inProcess(live).connect(shop);
    expect(await client.open.get()).toBe(true);
    expect(await client.stock.keys()).toEqual(["pen"]);
    expect(await client.stock.get("pen")).toBe(3);
    expect(await client.till.latest()).toBe(1);
    expect(await client.sold.wait()).toMatchObject({ status: "fired", occurrence: "pen" });
    expect(await client.sold.recent()).toMatchObject({ occurrences: ["pen"] });
    expect(await client.buy.call("ink")).toBe("one ink");
    const watches = [client.stock.watchKeys(), client.stock.watch("pen"), client.till.open()];
    const firsts = await Promise.all(watches.map((values) => values[Symbol.asyncIterator]().next()));
    expect(firsts.map((step) => step.value)).toEqual([["pen"], 3, 1]);
    expect("toString" in client).toBe(false);
    await live.close();
  });

  it("connect() refuses another surface", async () => {
    const { live } = openShop();
    const other = defineSurface("other", {});
    await expect(inProcess(live).connect(other)).rejects.toMatchObject({
      code: "UNKNOWN_MEMBER",
      message: 'Cannot connect to surface "other": this link reaches "shop"',
    });
  });

  it.each([
    ["lacks a member", { more: cell({ schema: z.boolean() }) }, 'has no member "more"'],
    ["has a member of another kind", { open: procedure({}) }, '"open" must be a procedure, and is a cell'],
    ["has another value", { open: cell({ schema: z.boolean() }) }, '"schema" of "open"'],
    ["has another key", { stock: collection({ key: z.string(), schema: stockSchema }) }, '"key" of "stock"'],
    ["takes another input", { buy: procedure({ output: z.string() }) }, '"input" of "buy"'],
    ["gives another output", { till: stream({ output: z.number() }) }, '"output" of "till"'],
    ["tells another progress", { ring: procedure({ progress: z.number() }) }, '"progress" of "ring"'],
    ["has an inherited name only", { toString: procedure({}) }, 'has no member "toString"'],
  ])("connect() and check() refuse a surface of the same name when the live one %s", async (_how, members, words) => {
    const { live } = openShop();
    const asked = defineSurface("shop", members as Record<never, never>);
    const error = { code: "CONTRACT_MISMATCH", message: expect.stringContaining(words) };
    await expect(inProcess(live).connect(asked)).rejects.toMatchObject(error);
    expect(() => inProcess(live).check?.(asked)).toThrow(expect.objectContaining(error));
    await live.close();
  });

  it("connect() takes a part of the live surface with other tags and words when the schemas are the same", async () => {
    const { live } = openShop();
    const asked = defineSurface("shop", {
      open: mcpResource(cell({ schema: shop.members.open.schema, title: "Open?" })),
    });
    inProcess(live).check?.(asked);
    const { client } = await inProcess(live).connect(asked);
    expect(await client.open.get()).toBe(true);
    await live.close();
  });

  it("close() ends the connection's watches and refuses new uses, and leaves the surface and other connections alone", async () => {
    const { live, source, release } = openShop();
    const [one, two] = [await inProcess(live).connect(shop), await inProcess(live).connect(shop)];
    const watches = [one, two].map(({ client }) => client.open.watch()[Symbol.asyncIterator]());
    await Promise.all(watches.map((watch) => watch.next()));
    const waiting = watches[0]?.next();
    const slow = one.client.buy.call("slow");
    await settle();
    await one.close();
    await one.close();
    expect(await one.closed).toEqual({ kind: "closed" });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(source.active).toBe(1);
    await expect(one.client.buy.call("ink")).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => one.client.open.watch()).toThrow(expect.objectContaining({ code: "CLOSED" }));
    release();
    expect(await slow).toBe("one slow");
    expect(await two.client.open.get()).toBe(true);
    await live.close();
    expect(source.active).toBe(0);
  });

  it("closed says gone when the live surface closes, and every connection ends", async () => {
    const { live } = openShop();
    const connection = await inProcess(live).connect(shop);
    await live.close();
    expect(await connection.closed).toEqual({ kind: "gone" });
    await connection.close();
    await expect(connection.client.open.get()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("an app over a link in this process", () => {
  const desk = defineSurface("desk", { ring: mcpTool(procedure({})) });
  const other = defineSurface("other", {});

  function openDesk() {
    const ring = vi.fn<() => void>();
    return { ring, live: implementSurface(desk, { ring }) };
  }

  async function callRing(link: Link): Promise<unknown> {
    const client = createTestClient(mcp(desk, { onFault: () => {} }).bridge(link));
    try {
      return await client.request("tools/call", { name: "ring", arguments: {} });
    } finally {
      await client.close();
    }
  }

  it("calls nothing once the live surfaces that it reaches together are closed", async () => {
    const { ring, live } = openDesk();
    const both = implementSurfaces({ desk: live, other: implementSurface(other, {}) });
    await both.close();
    expect(await callRing(inProcess(both))).toMatchObject({ isError: true });
    expect(ring).not.toHaveBeenCalled();
  });

  it("connects in the way of a link that an author has made of it", async () => {
    const { ring, live } = openDesk();
    let connects = 0;
    const connect = async (): Promise<never> => {
      connects += 1;
      throw new SurfaceError("UNAVAILABLE", "Connecting: not today");
    };
    expect(await callRing({ ...inProcess(live), connect })).toMatchObject({ isError: true });
    expect([ring.mock.calls.length, connects > 0]).toEqual([0, true]);
  });
});
