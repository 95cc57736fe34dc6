import { describe, expect, it } from "vitest";
import type { Loose } from "../support/memory-transport.ts";
import { settle, until } from "../../surface/support.ts";
import { makeTreasure } from "../support/rich-surface.ts";
import { connectRaw, connectRich, serveRaw } from "./support.ts";

const items = (sent: Loose[]): Loose[] => sent.filter(({ method }) => method === "surface/item");

describe("credit", () => {
  it("bounds what a server sends to a consumer who takes nothing, and what it pulls", async () => {
    const { client, pair, state, live } = await connectRich();
    const stream = client.ticks.open("all")[Symbol.asyncIterator]();
    await stream.next();
    await settle(50);
    expect(items(pair.server.sent)).toHaveLength(32);
    // One shared iteration runs for the newest frame besides.
    const values: number[] = [];
    for (let index = 0; index < 200; index += 1) values.push((await stream.next()).value);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(items(pair.server.sent).length).toBeLessThanOrEqual(201 + 32);
    await stream.return?.();
    await until(() => state.ended >= 1);
    await live.close();
  });

  it("lets a watch without credit skip to the newest", async () => {
    const { chest, live, peer } = serveRaw();
    await peer.hello();
    peer.ask(1, "surface/follow", { verb: "watch", member: "chest", stream: 9, credit: 1 });
    await until(() => items(peer.heard).length === 1);
    for (let size = 2n; size <= 40n; size += 1n) {
      chest.set(makeTreasure(size));
      await settle(1);
    }
    expect(items(peer.heard)).toHaveLength(1);
    peer.tell("surface/credit", { stream: 9, credit: 5 });
    await until(() => items(peer.heard).length === 2);
    await settle();
    expect(items(peer.heard).map(({ params }) => params.value.size)).toEqual(["1", "40"]);
    await live.close();
  });

  it("ends the connection of a server that sends more than it may", async () => {
    const { client, closed, peer } = await connectRaw();
    const stream = client.ticks.open("all")[Symbol.asyncIterator]();
    const first = stream.next();
    const { params } = await peer.next((message) => message.method === "surface/follow");
    for (let value = 0; value < 99; value += 1) peer.tell("surface/item", { stream: params.stream, value });
    expect(await first).toEqual({ done: false, value: 0 });
    expect(await closed).toMatchObject({ kind: "lost", cause: { code: "PROTOCOL_MISMATCH" } });
  });

  it("is ignored for streams that there are not, and when it is none", async () => {
    const { live, peer } = serveRaw();
    await peer.hello();
    for (const credit of [-1, 1.5, "x", null, Number.MAX_SAFE_INTEGER]) {
      peer.tell("surface/credit", { stream: 77, credit });
      peer.tell("surface/credit", { stream: "x", credit });
    }
    peer.tell("surface/credit");
    peer.tell("surface/credit", [1]);
    peer.ask(1, "surface/ping");
    expect(await peer.reply(1)).toMatchObject({ result: null });
    await live.close();
  });

  it("stops pulling while the far side does not take what is written, and goes on after", async () => {
    const { live, peer, pair } = serveRaw();
    await peer.hello();
    pair.server.capacity = 10;
    pair.server.hold();
    peer.ask(1, "surface/follow", { verb: "open", member: "ticks", argument: "all", stream: 1, credit: 1000 });
    await settle(100);
    const written = items(pair.server.sent).length;
    expect(written).toBeLessThanOrEqual(10);
    expect(pair.server.isPaused).toBe(true);
    pair.server.release();
    await until(() => items(peer.heard).length === 1000);
    expect(pair.server.isPaused).toBe(false);
    await live.close();
  });

  const slow = {
    verb: "call",
    member: "bury",
    argument: { at: "2026-01-01T00:00:00.000Z", how: "slow" },
    progress: 4,
  };

  it.each([
    ["sends what was kept of it", false, 2],
    ["forgets what was kept of a call that has ended", true, 1],
  ])("keeps progress while nothing is taken, and then %s", async (_what, isAnswered, count) => {
    const { live, peer, pair, state } = serveRaw();
    await peer.hello();
    pair.server.capacity = 1;
    pair.server.hold();
    peer.ask(1, "surface/ask", slow);
    await until(() => state.calls === 1);
    await settle(6);
    const progress = (): Loose[] => peer.heard.filter(({ method }) => method === "surface/progress");
    expect(pair.server.sent.filter(({ method }) => method === "surface/progress")).toHaveLength(1);
    if (isAnswered) state.release();
    await settle(6);
    pair.server.release();
    await settle(6);
    state.release();
    await peer.reply(1);
    expect(progress()).toHaveLength(count);
    expect(peer.heard.at(-1)).toMatchObject({ id: 1 });
    await live.close();
  });
});
