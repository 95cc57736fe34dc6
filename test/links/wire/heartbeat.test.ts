import { describe, expect, it } from "vitest";
import { Heartbeat } from "../../../src/links/wire/wire-peer.ts";
import { settle } from "../../surface/support.ts";
import { ManualClock } from "../manual-clock.ts";
import { connectRaw, connectRich, outcome, serveRaw } from "./support.ts";

function start(clock = new ManualClock()) {
  const seen = { asked: 0, lost: 0, told: 0, heard: false, moved: false };
  const heartbeat = new Heartbeat({
    clock,
    everyMs: 100,
    peer: {
      takeHeard() {
        const { heard } = seen;
        seen.heard = false;
        return heard;
      },
      takeMoved() {
        const { moved } = seen;
        seen.moved = false;
        return moved;
      },
      tell: () => void (seen.told += 1),
      ask: () => void (seen.asked += 1),
    },
    lost: () => void (seen.lost += 1),
  });
  return { clock, seen, heartbeat };
}

describe("Heartbeat", () => {
  it("asks after one silent interval, and gives up after two more", async () => {
    const { clock, seen } = start();
    await clock.pass(99);
    expect(seen).toMatchObject({ asked: 0, lost: 0 });
    await clock.pass(1);
    expect(seen).toMatchObject({ asked: 1, lost: 0 });
    await clock.pass(199);
    expect(seen).toMatchObject({ asked: 1, lost: 0 });
    await clock.pass(1);
    expect(seen).toMatchObject({ asked: 1, lost: 1 });
    expect(clock.size).toBe(0);
  });

  it("starts anew with every sign of life, and asks nothing while there are any", async () => {
    const { clock, seen, heartbeat } = start();
    for (let round = 0; round < 10; round += 1) {
      seen.heard = true;
      await clock.pass(100);
    }
    expect(seen).toMatchObject({ asked: 0, lost: 0 });
    await clock.pass(200);
    seen.heard = true;
    await clock.pass(250);
    expect(seen).toMatchObject({ asked: 2, lost: 0 });
    heartbeat.stop();
    heartbeat.stop();
    await clock.pass(1000);
    expect(seen.lost).toBe(0);
  });

  it("starts anew while bytes come of a message that is not whole, and says meanwhile that this side is there", async () => {
    const { clock, seen, heartbeat } = start();
    for (let round = 0; round < 10; round += 1) {
      seen.moved = true;
      await clock.pass(100);
    }
    expect(seen).toMatchObject({ asked: 0, lost: 0, told: 10 });
    [seen.moved, seen.heard] = [true, true];
    await clock.pass(100);
    expect(seen).toMatchObject({ told: 10 });
    await clock.pass(300);
    expect(seen).toMatchObject({ asked: 1, lost: 1 });
    heartbeat.stop();
  });

  it("starts anew when its own process did not run: a timer fires late", () => {
    const timers: (() => void)[] = [];
    let now = 0;
    const clock = { now: () => now, after: (_ms: number, run: () => void) => (timers.push(run), () => {}) };
    const { seen } = start(clock as never);
    const fire = (ms: number): void => {
      now += ms;
      timers.pop()?.();
    };
    fire(100);
    fire(100);
    expect(seen).toMatchObject({ asked: 1, lost: 0 });
    // Asleep for an hour, before what would have been the end.
    fire(3_600_000);
    expect(seen).toMatchObject({ asked: 1, lost: 0 });
    fire(100);
    fire(100);
    expect(seen).toMatchObject({ asked: 2, lost: 0 });
    fire(100);
    expect(seen.lost).toBe(1);
  });
});

describe("a connection that falls silent", () => {
  it("is lost for a client, whose uses are told, once its pings go unanswered", async () => {
    const clock = new ManualClock();
    const { client, closed, pair } = await connectRich({ clock, heartbeatMs: 1000 });
    pair.server.isSilent = true;
    const use = outcome(client.chest.get());
    await clock.pass(2999);
    expect(pair.client.isClosed).toBe(false);
    await clock.pass(1001);
    expect(await use).toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toMatchObject({ kind: "lost", cause: { code: "TIMEOUT" } });
    expect(clock.size).toBe(0);
  });

  it("lives on a client's side as long as the server answers pings", async () => {
    const clock = new ManualClock();
    const { client, pair, live } = await connectRich({ clock, heartbeatMs: 1000 });
    for (let second = 0; second < 60; second += 1) {
      await clock.pass(1000);
      await settle(12);
    }
    expect(await client.echo.call(1)).toBe(1);
    const pings = pair.client.sent.filter(({ method }) => method === "surface/ping").length;
    expect(pings).toBeGreaterThan(10);
    await live.close();
  });

  it("asks again only when its last ping was answered, whatever else it hears", async () => {
    const clock = new ManualClock();
    const { peer, connection } = await connectRaw({ clock, heartbeatMs: 1000 });
    const pings = () => peer.heard.filter(({ method }) => method === "surface/ping");
    const passSilently = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        await clock.pass(1000);
        await settle();
        peer.tell("surface/progress", { token: 99 });
        await settle();
        await clock.pass(1000);
      }
    };
    await passSilently(5);
    expect(pings()).toHaveLength(1);
    peer.answer(pings()[0].id, null);
    await passSilently(5);
    expect(pings()).toHaveLength(2);
    await connection.close();
  });

  it("is lost for a server, which aborts what ran for it", async () => {
    const clock = new ManualClock();
    const { peer, served, state, pair, live } = serveRaw({ clock, heartbeatMs: 1000 });
    await peer.hello();
    peer.ask(1, "surface/ask", {
      verb: "call",
      member: "bury",
      argument: { at: "2026-01-01T00:00:00.000Z", how: "slow" },
    });
    await settle(9);
    expect(state.calls).toBe(1);
    await clock.pass(5000);
    await served.closed;
    await settle();
    expect(state.aborted).toBe(1);
    expect(peer.heard.some(({ method }) => method === "surface/ping")).toBe(true);
    expect(pair.server.isClosed).toBe(true);
    expect(clock.size).toBe(0);
    await live.close();
  });

  it("answers the pings of either side", async () => {
    const { live, peer } = serveRaw();
    await peer.hello();
    peer.ask(1, "surface/ping");
    peer.ask(2, "surface/ping", {});
    expect([(await peer.reply(1)).result, (await peer.reply(2)).result]).toEqual([null, null]);
    await live.close();
    const other = await connectRaw();
    other.peer.ask(1, "surface/ping");
    expect((await other.peer.reply(1)).result).toBe(null);
  });

  it("counts that its output was taken as a sign of life", async () => {
    const clock = new ManualClock();
    const { peer, pair, served, live } = serveRaw({ clock, heartbeatMs: 1000 });
    await peer.hello();
    pair.server.capacity = 5;
    peer.ask(1, "surface/follow", { verb: "open", member: "ticks", argument: "all", stream: 1, credit: 1000 });
    for (let round = 0; round < 10; round += 1) {
      pair.server.hold();
      await clock.pass(900);
      pair.server.release();
      await settle();
    }
    let isClosed = false;
    void served.closed.then(() => (isClosed = true));
    await settle();
    expect(isClosed).toBe(false);
    pair.server.hold();
    await clock.pass(5000);
    await served.closed;
    await live.close();
  });
});
