import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { SurfaceError } from "../../../src/errors.ts";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { event, procedure, stream } from "../../../src/surface/define-members.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { noteRejections, settle, until } from "../../surface/support.ts";
import { ManualClock } from "../manual-clock.ts";
import { createMemoryPair } from "../support/memory-transport.ts";
import { day, makeTreasure, openRich, rich } from "../support/rich-surface.ts";
import { serveWire, connectRaw, connectRich, outcome, serveRaw } from "./support.ts";

describe("goodbye", () => {
  it("lets what runs be answered, refuses what is new, and ends as gone", async () => {
    const { client, leaving, closed, served, state, live } = await connectRich();
    const running = client.bury.call({ at: day, how: "slow" });
    await until(() => state.calls === 1);
    await settle(9);
    const closing = served.close();
    void served.close();
    await leaving;
    expect(await outcome(client.chest.get())).toMatchObject({ code: "UNAVAILABLE" });
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    expect(await outcome(watch.next())).toMatchObject({ code: "UNAVAILABLE" });
    await settle(20);
    state.release();
    expect(await running).toEqual(makeTreasure());
    await closing;
    expect(await closed).toEqual({ kind: "gone" });
    // The live surface goes on.
    expect(live.surface).toBe(rich);
    const pair = createMemoryPair();
    serveWire(live, pair.server);
    const again = await openWireClient(rich, pair.client);
    expect(await again.client.chest.get()).toEqual(makeTreasure());
    await live.close();
  });

  it("waits for no event: a wait is cut off, and may be sent again", async () => {
    // Time stands still: who waits for what runs waits without an end.
    const clock = new ManualClock();
    const { client, served, closed, live } = await connectRich({ clock }, { clock });
    const wait = outcome(client.rang.wait(undefined, { timeoutMs: 60_000 }));
    await settle(9);
    await served.close();
    expect(await wait).toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toEqual({ kind: "gone" });
    await live.close();
  });

  it("is said by the state of the connection before a request fails because of the end", async () => {
    const { client, connection, pair, state, live } = await connectRich();
    const states: unknown[] = [connection.state()];
    const running = client.bury.call({ at: day, how: "slow" }).catch(() => states.push(connection.state()));
    await until(() => state.calls === 1);
    pair.client.cut();
    await running;
    expect(states).toEqual([{ kind: "open" }, { kind: "ended", reason: { kind: "lost" } }]);
    state.release();
    await live.close();
  });

  it("is said by the state of the connection in the turn in which it refuses new uses", async () => {
    const { client, connection, pair, live } = await connectRich();
    pair.client.cut();
    const refused = outcome(client.chest.get());
    expect(connection.state()).toEqual({ kind: "ended", reason: { kind: "lost" } });
    expect(await refused).toMatchObject({ code: "UNAVAILABLE" });
    await live.close();
  });

  it("answers UNAVAILABLE to a request that crossed it, and nobody has run it", async () => {
    const { client, served, state, live } = await connectRich();
    const closing = served.close();
    const crossed = outcome(client.bury.call({ at: day, how: "well" }));
    expect(await crossed).toMatchObject({ code: "UNAVAILABLE" });
    expect(state.calls).toBe(0);
    await closing;
    await live.close();
  });

  it("tells a use that the application's own end cut short that it was disconnected", async () => {
    const { client, closed, live } = await connectRich();
    const wait = outcome(client.rang.wait());
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    await watch.next();
    const step = watch.next();
    await settle(9);
    await live.close();
    expect(await wait).toMatchObject({ code: "DISCONNECTED" });
    expect(await step).toEqual({ done: true, value: undefined });
    expect(await closed).toEqual({ kind: "gone" });
  });

  it("tells a call that the application's own end cut short that it was disconnected, so that it may be sent again", async () => {
    const runner = defineSurface("runner", { run: procedure({}) });
    let begun = 0;
    const live = implementSurface(runner, {
      run: (_input, { signal }) => {
        begun += 1;
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const pair = createMemoryPair();
    serveWire(live, pair.server);
    const { client } = await openWireClient(runner, pair.client);
    const call = outcome(client.run.call(undefined, { idempotent: true }));
    await until(() => begun === 1);
    await live.close();
    expect(await call).toMatchObject({ code: "DISCONNECTED" });
  });

  it("comes before everything that the application's end cuts short, also when that takes long", async () => {
    const surface = defineSurface("slow", {
      lines: stream({ input: z.number(), output: z.number() }),
      rang: event({ output: z.number() }),
    });
    const live = implementSurface(surface, {
      async *lines(from, { signal }) {
        yield from;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        // Whatever was registered before it is closed only after this.
        await settle(20);
      },
      async *rang(_input, { signal }) {
        if (signal.aborted) yield 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    const pair = createMemoryPair();
    serveWire(live, pair.server);
    const { client } = await openWireClient(surface, pair.client);
    const wait = outcome(client.rang.wait());
    await client.lines.open(1)[Symbol.asyncIterator]().next();
    await live.close();
    expect(await wait).toMatchObject({ code: "DISCONNECTED" });
  });

  it("waits for five seconds at most, on a server", async () => {
    const clock = new ManualClock();
    const { peer, served, live, state } = serveRaw({ clock });
    peer.isRude = true;
    await peer.hello();
    const closing = served.close();
    await clock.pass(4999);
    expect(peer.isClosed).toBe(false);
    await clock.pass(1);
    await closing;
    await settle();
    expect(peer.isClosed).toBe(true);
    expect([state.calls, clock.size]).toEqual([0, 0]);
    await live.close();
  });

  it("waits for five seconds at most, on a client", async () => {
    const clock = new ManualClock();
    const { client, closed, peer, leaving } = await connectRaw({ clock });
    const use = outcome(client.chest.get());
    peer.tell("surface/goodbye", {});
    peer.tell("surface/goodbye");
    await leaving;
    await clock.pass(4999);
    await settle();
    expect(peer.isClosed).toBe(false);
    await clock.pass(1);
    expect(await use).toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toEqual({ kind: "gone" });
    expect(clock.size).toBe(0);
  });

  it("is said for a peer that has not shaken hands, and ends at once", async () => {
    const { served, peer, live } = serveRaw();
    peer.isRude = true;
    await served.close();
    await settle();
    expect(peer.isClosed).toBe(true);
    await live.close();
  });
});

describe("the end of a connection", () => {
  it("ends watches quietly and refuses new uses when this side closes it", async () => {
    const { client, connection, closed, state, live } = await connectRich();
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    await watch.next();
    const step = watch.next();
    const call = outcome(client.bury.call({ at: day, how: "slow" }));
    await until(() => state.calls === 1);
    await settle(9);
    await connection.close();
    await connection.close();
    expect(await closed).toEqual({ kind: "closed" });
    expect(await step).toEqual({ done: true, value: undefined });
    expect(await call).toMatchObject({ code: "DISCONNECTED" });
    expect(await outcome(client.chest.get())).toMatchObject({ code: "CLOSED" });
    await until(() => state.aborted === 1);
    await live.close();
  });

  it("rejects every use, watches too, and then says that it is lost", async () => {
    const { client, closed, pair, state, live } = await connectRich();
    const order: string[] = [];
    const note = (name: string) => (cause: { code: string }) => void order.push(`${name} ${cause.code}`);
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    const ticks = client.ticks.open("all")[Symbol.asyncIterator]();
    await watch.next();
    await ticks.next();
    const uses: Promise<unknown>[] = [
      client.bury.call({ at: day, how: "slow" }).catch(note("call")),
      client.rang.wait().catch(note("wait")),
      watch.next().catch(note("watch")),
    ];
    void closed.then(({ kind }) => order.push(kind));
    await until(() => state.calls === 1);
    await settle(9);
    const readings = client.chest.readings()[Symbol.asyncIterator]();
    await readings.next();
    uses.push(
      readings.next().catch(note("readings")),
      client.chest.get().catch(note("get")),
      client.chest.reading().catch(note("reading")),
      client.places.keys().catch(note("keys")),
    );
    pair.server.cut();
    await Promise.all(uses);
    await closed;
    const names = ["call", "get", "keys", "reading", "readings", "wait", "watch"];
    expect(order.slice(0, names.length).toSorted()).toEqual(names.map((name) => `${name} DISCONNECTED`));
    expect(order[names.length]).toBe("lost");
    expect(await outcome(client.chest.get())).toMatchObject({ code: "UNAVAILABLE" });
    await until(() => state.aborted === 1 && state.ended === 1);
    await live.close();
  });

  it("hands out the items that had come, and then the end", async () => {
    const { client, peer, pair } = await connectRaw();
    const ticks = client.ticks.open("all")[Symbol.asyncIterator]();
    const first = ticks.next();
    const { params } = await peer.next((message) => message.method === "surface/follow");
    for (const value of [1, 2, 3]) peer.tell("surface/item", { stream: params.stream, value });
    expect(await first).toMatchObject({ value: 1 });
    await settle();
    pair.server.cut();
    await settle();
    expect([(await ticks.next()).value, (await ticks.next()).value]).toEqual([2, 3]);
    expect(await outcome(ticks.next())).toMatchObject({ code: "DISCONNECTED" });
    expect(await ticks.next()).toEqual({ done: true, value: undefined });
  });

  it("settles what was answered in the last moment by its answer", async () => {
    const { client, closed, peer, pair } = await connectRaw();
    const uses = Promise.all(Array.from({ length: 20 }, () => client.maybe.get()));
    await until(() => peer.heard.filter(({ method }) => method === "surface/ask").length === 20);
    for (const { id } of peer.heard) peer.answer(id, {});
    pair.server.close();
    expect(await uses).toHaveLength(20);
    expect(await closed).toMatchObject({ kind: "lost" });
  });

  it("keeps the cause of a transport that broke", async () => {
    const { closed, pair } = await connectRaw();
    const cause = new Error("ECONNRESET");
    pair.client.cut(cause);
    expect(await closed).toEqual({ kind: "lost", cause });
  });

  it("fails a request at once that finds the connection broken when it sends credit first", async () => {
    const { client, peer, pair } = await connectRaw();
    const items = client.ticks.open("all")[Symbol.asyncIterator]();
    const first = items.next();
    const { params } = await peer.next((message) => message.method === "surface/follow");
    const { stream: id } = Object(params);
    for (let value = 0; value < 16; value += 1) peer.tell("surface/item", { stream: id, value });
    await first;
    for (let value = 1; value < 16; value += 1) await items.next();
    // A socket that is destroyed, whose end was not told yet.
    pair.client.isClosed = true;
    expect(await outcome(client.plain.call())).toMatchObject({ code: "UNAVAILABLE" });
  });

  // The whole of one conversation, cut after every one of its messages.
  it("settles everything, wherever a conversation is cut", async () => {
    const rejections = noteRejections();
    let isWhole = false;
    let cutAfter = 0;
    while (!isWhole) {
      cutAfter += 1;
      expect(cutAfter).toBeLessThan(200);
      isWhole = await talkUntil(cutAfter);
    }
    expect(cutAfter).toBeGreaterThan(25);
    await settle();
    expect(rejections.end()).toEqual([]);
  });
});

function expectCode(cause: unknown, codes: readonly string[]): void {
  expect(codes).toContain((cause as SurfaceError).code);
}

/** Talks about everything at once; `true` when the conversation came to its end. */
async function talkUntil(cutAfter: number): Promise<boolean> {
  const { live, state } = openRich();
  const pair = createMemoryPair(cutAfter);
  const served = serveWire(live, pair.server, { onFault: () => {} });
  const opened = await outcome(openWireClient(rich, pair.client));
  if (opened instanceof Error) {
    expectCode(opened, ["UNAVAILABLE"]);
    await served.closed;
    await live.close();
    return false;
  }
  const { client, closed, close, state: stateOf } = opened;
  const drain = async (values: AsyncIterable<unknown>): Promise<void> => {
    let count = 0;
    const iterator = values[Symbol.asyncIterator]();
    while ((await iterator.next()).done !== true && count < 40) count += 1;
    await iterator.return?.();
  };
  const controller = new AbortController();
  const outcomes = await Promise.all(
    [
      client.chest.get(),
      client.bury.call({ at: day, how: "well" }, { onProgress: () => {} }),
      client.bury.call({ at: day, how: "refused" }),
      client.places.keys(),
      client.rang.wait(undefined, { timeoutMs: 5 }),
      drain(client.ticks.open("all")),
      drain(client.clock.open({ from: 1n })),
      client.rang.wait(undefined, { signal: (setImmediate(() => controller.abort()), controller.signal) }),
    ].map((use) => outcome(use)),
  );
  const codes = outcomes.filter((one) => one instanceof Error).map((one) => (one as SurfaceError).code as string);
  expect(codes.filter((code) => !["DISCONNECTED", "UNAVAILABLE", "TAKEN", "ABORTED"].includes(code))).toEqual([]);
  const isWhole = codes.every((code) => code === "TAKEN" || code === "ABORTED");
  // It may be cut after its last answer.
  const isClosing = isWhole && stateOf().kind === "open";
  if (isClosing) await close();
  expect(await closed).toMatchObject({ kind: isClosing ? "closed" : "lost" });
  await served.closed;
  await live.close();
  expect(state.ended).toBeGreaterThanOrEqual(0);
  return isClosing;
}
