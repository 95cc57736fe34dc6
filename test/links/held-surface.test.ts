import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inProcess } from "../../src/links/in-process.ts";
import { LazyConnection } from "../../src/links/lazy-connection.ts";
import type { Connection, Link } from "../../src/links/link.ts";
import { cell } from "../../src/surface/cell.ts";
import type { UseOptions } from "../../src/surface/client.ts";
import { collection } from "../../src/surface/collection.ts";
import { defineSurface, type Surface } from "../../src/surface/define-surface.ts";
import { event } from "../../src/surface/event.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import type { Spec } from "../../src/surface/member.ts";
import { procedure } from "../../src/surface/procedure.ts";
import { cellSource } from "../../src/surface/source.ts";
import { stream } from "../../src/surface/stream.ts";
import { settle, take, WatchedSource } from "../surface/support.ts";

const surface = defineSurface("s", {
  value: cell({ schema: z.number() }),
  items: collection({ key: z.string(), schema: z.number() }),
  frames: stream({ output: z.number() }),
  rang: event({ output: z.number(), replayLast: true }),
  run: procedure({ output: z.number() }),
});

function implement(source = new WatchedSource(1)) {
  return implementSurface(surface, {
    value: source,
    items: cellSource(new Map([["a", 1]])),
    frames: async function* () {
      yield 1;
      yield 2;
    },
    rang: async function* () {
      yield 1;
    },
    run: () => 5,
  });
}

/** A link that a test lets through, refuses or holds; counts what it opened and closed. */
class HeldLink implements Link {
  dials = 0;
  closes = 0;
  refusals: Error[] = [];
  hold = false;
  closeFails = false;
  signal: AbortSignal | undefined;
  last: Connection<Spec> | undefined;
  #release: (() => void)[] = [];
  readonly #inner: Link;

  constructor(inner: Link) {
    this.#inner = inner;
  }

  release(): void {
    for (const release of this.#release.splice(0)) release();
  }

  async connect<TSpec extends Spec>(asked: Surface<TSpec>, use?: UseOptions): Promise<Connection<TSpec>> {
    this.dials += 1;
    this.signal = use?.signal;
    if (this.hold) await new Promise<void>((resolve) => this.#release.push(resolve));
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw refusal;
    const connection = await this.#inner.connect(asked);
    const close = async (): Promise<void> => {
      this.closes += 1;
      await connection.close();
      if (this.closeFails) throw new Error("close failed");
    };
    this.last = { ...connection, close } as never;
    return { ...connection, close };
  }
}

function open(source?: WatchedSource<number>) {
  const live = implement(source);
  const link = new HeldLink(inProcess(live));
  return { live, link, lazy: new LazyConnection(link, surface) };
}

describe("LazyConnection", () => {
  it("channel carries every use once there is a connection, and dials on the first", async () => {
    const { link, lazy } = open();
    const { channel } = lazy;
    expect(link.dials).toBe(0);
    expect(await channel.get("value", {})).toBe(1);
    expect(await channel.keys("items", {})).toEqual(["a"]);
    expect(await channel.item("items", "a", {})).toBe(1);
    expect(await take(channel.watch("value", {}), 1)).toEqual([1]);
    expect(await take(channel.watchKeys("items", {}), 1)).toEqual([["a"]]);
    expect(await take(channel.watchItem("items", "a", {}), 1)).toEqual([1]);
    expect(await take(channel.open("frames", undefined, {}), 2)).toEqual([1, 2]);
    expect(await channel.latest("frames", undefined, {})).toBe(2);
    expect(await channel.wait("rang", undefined, {})).toMatchObject({ occurrence: 1 });
    expect(await channel.recent("rang", undefined, {})).toMatchObject({ occurrences: expect.any(Array) });
    expect(await channel.call("run", undefined, {})).toBe(5);
    expect(link.dials).toBe(1);
    await lazy.close();
    expect(link.closes).toBe(1);
  });

  it("channel tells every use at once when what is connected to is another surface", async () => {
    const asked = defineSurface("s", { ...surface.members, value: cell({ schema: z.string() }) });
    const lazy = new LazyConnection(inProcess(implement()), asked);
    await expect(lazy.channel.get("value", {})).rejects.toMatchObject({ code: "CONTRACT_MISMATCH" });
    const values = lazy.channel.watch("value", {})[Symbol.asyncIterator]();
    await expect(values.next()).rejects.toMatchObject({ code: "CONTRACT_MISMATCH" });
    await lazy.close();
  });

  it("channel shares one dial when first uses come at once", async () => {
    const { link, lazy } = open();
    link.hold = true;
    const uses = Promise.all([
      ...Array.from({ length: 20 }, () => lazy.channel.get("value", {})),
      take(lazy.channel.watch("value", {}), 1),
    ]);
    await settle();
    link.release();
    await uses;
    expect(link.dials).toBe(1);
    await lazy.close();
  });

  it("channel fails everybody who waits when a dial fails, and dials again for the next", async () => {
    const { link, lazy } = open();
    link.refusals = [new Error("refused")];
    const first = await Promise.allSettled([
      lazy.channel.get("value", {}),
      lazy.channel.call("run", undefined, {}),
      take(lazy.channel.watch("value", {}), 1),
    ]);
    expect(first.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await lazy.channel.get("value", {})).toBe(1);
    expect(link.dials).toBe(2);
    await lazy.close();
  });

  it("channel lets one go whose signal fires while it dials, without taking the dial from the others", async () => {
    const { link, lazy } = open();
    link.hold = true;
    const controller = new AbortController();
    const { signal } = controller;
    const patient = lazy.channel.get("value", {});
    const watch = lazy.channel.watch("value", { signal })[Symbol.asyncIterator]();
    const cut = Promise.allSettled([lazy.channel.get("value", { signal }), watch.next()]);
    await settle();
    controller.abort();
    expect(await cut).toMatchObject([
      { status: "rejected", reason: { code: "ABORTED" } },
      { status: "fulfilled", value: { done: true } },
    ]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    link.release();
    expect(await patient).toBe(1);
    expect(link.dials).toBe(1);
  });

  it("channel does not dial for one whose signal had fired", async () => {
    const { link, lazy } = open();
    const use = { signal: AbortSignal.abort() };
    await expect(lazy.channel.get("value", use)).rejects.toMatchObject({ code: "ABORTED" });
    expect(await take(lazy.channel.watch("value", use), 1)).toEqual([]);
    expect(link.dials).toBe(0);
  });

  it("channel ends a watch by return() while its next() waits, also while it still dials", async () => {
    const source = new WatchedSource(1);
    const { link, lazy } = open(source);
    link.hold = true;
    const early = lazy.channel.watch("value", {})[Symbol.asyncIterator]();
    const waiting = early.next();
    await settle();
    await early.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    link.release();
    await settle();
    expect(source.subscribed).toBe(0);
    const late = lazy.channel.watch("value", {})[Symbol.asyncIterator]();
    await late.next();
    const next = late.next();
    await settle();
    await late.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect([source.subscribed, source.active]).toEqual([1, 0]);
  });

  it("close() tells a dial under way, fails those who wait for it, and closes once what it still opens", async () => {
    const { link, lazy } = open();
    link.hold = true;
    const waiting = Promise.allSettled([
      lazy.channel.get("value", {}),
      lazy.channel.watch("value", {})[Symbol.asyncIterator]().next(),
    ]);
    await settle();
    await lazy.close();
    await lazy.close();
    expect(link.signal?.aborted).toBe(true);
    expect(await waiting).toMatchObject([{ reason: { code: "CLOSED" } }, { value: { done: true } }]);
    link.closeFails = true;
    link.release();
    await settle();
    expect(link.closes).toBe(1);
    await expect(lazy.channel.get("value", {})).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => lazy.channel.watch("value", {})).toThrow(expect.objectContaining({ code: "CLOSED" }));
    expect(link.dials).toBe(1);
  });

  it("close() refuses the next use at once, ends watches, and reports a connection that fails to close", async () => {
    const source = new WatchedSource(1);
    const { link, lazy } = open(source);
    const watch = lazy.channel.watch("value", {})[Symbol.asyncIterator]();
    await watch.next();
    const next = watch.next();
    link.closeFails = true;
    const closing = lazy.close();
    await expect(lazy.channel.get("value", {})).rejects.toMatchObject({ code: "CLOSED" });
    await expect(closing).rejects.toThrow(AggregateError);
    expect(await next).toEqual({ done: true, value: undefined });
    expect([link.closes, source.active]).toEqual([1, 0]);
  });

  it("channel dials again when the connection has ended, and a late end does not touch the successor", async () => {
    const { link, lazy } = open();
    await lazy.channel.get("value", {});
    const former = link.last;
    await former?.close();
    await settle();
    expect(await lazy.channel.get("value", {})).toBe(1);
    expect(link.dials).toBe(2);
    await former?.close();
    await settle();
    await lazy.channel.get("value", {});
    expect(link.dials).toBe(2);
    await lazy.close();
    expect(link.closes).toBe(3);
  });

  it("channel dials again when a connection was born dead, or its end is reported by a failure", async () => {
    const live = implement();
    let dials = 0;
    const link: Link = {
      async connect(asked) {
        dials += 1;
        const connection = await inProcess(live).connect(asked);
        if (dials === 1) await connection.close();
        return dials === 2 ? { ...connection, closed: Promise.reject(new Error("never rejects")) } : connection;
      },
    };
    const lazy = new LazyConnection(link, surface);
    await expect(lazy.channel.get("value", {})).rejects.toMatchObject({ code: "CLOSED" });
    await settle();
    expect(await lazy.channel.get("value", {})).toBe(1);
    await settle();
    expect(await lazy.channel.get("value", {})).toBe(1);
    expect(dials).toBe(3);
  });
});
