import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { listeners, settle, take, until, WatchedSource } from "../surface/support.ts";
import { closeAll, connect, idleMs, lost, open, type Opened, outcomeOf, surface } from "./held-support.ts";
import { ScriptedConnection } from "./scripted-link.ts";
import { operationsOf } from "../surface/uses-of.ts";

afterEach(closeAll);

describe("ReconnectingSurface over a live surface", () => {
  const implement = (source = new WatchedSource(1)) =>
    implementSurface(surface, {
      value: source,
      items: cellSource(new Map([["a", 1]])),
      frames: async function* () {
        yield 1;
        yield 2;
      },
      rang: async function* (_input, { signal }) {
        yield 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      run: () => 5,
      look: () => 6,
    });

  it("carries every use once there is a connection, and dials on the first", async () => {
    const live = implement();
    let dials = 0;
    const link: Link = { connect: (asked) => inProcess(live).connect(((dials += 1), asked)) };
    const made = new ReconnectingSurface({ link, surface });
    const channel = operationsOf(made.channel);
    await settle();
    expect(dials).toBe(0);
    expect(await channel.get("value", {})).toBe(1);
    expect(await channel.keys("items", {})).toEqual(["a"]);
    expect(await channel.item("items", "a", {})).toBe(1);
    expect(await take(channel.watch("value", {}), 1)).toEqual([1]);
    expect(await take(channel.watchKeys("items", {}), 1)).toEqual([["a"]]);
    expect(await take(channel.watchItem("items", "a", {}), 1)).toEqual([1]);
    expect(await take(channel.open("frames", undefined, {}), 2)).toEqual([1, 2]);
    expect(await channel.latest("frames", undefined, {})).toBe(2);
    expect(await take(channel.watchLatest("frames", undefined, {}), 1)).toEqual([[]]);
    const recent = await channel.recent("rang", undefined, {});
    expect(recent).toMatchObject({ occurrences: [1] });
    expect(await take(channel.watchRecent("rang", undefined, {}), 1)).toEqual([recent]);
    expect(await channel.wait("rang", undefined, { timeoutMs: 0 })).toMatchObject({ status: "timed_out" });
    expect(await channel.call("run", undefined, {})).toBe(5);
    expect(dials).toBe(1);
    await made.close();
    expect(await live.close()).toBeUndefined();
  });

  it("goes on with a wait across a restart: by its cursor, which is of before, or by saying that it was reset", async () => {
    let live = implement();
    const made = new ReconnectingSurface({ link: { connect: (asked) => inProcess(live).connect(asked) }, surface });
    const { cursor } = await operationsOf(made.channel).recent("rang", undefined, {});
    await live.close();
    live = implement();
    const answer = await operationsOf(made.channel).wait("rang", undefined, { since: cursor });
    expect(answer).toMatchObject({ status: "timed_out", reset: true });
    expect(await operationsOf(made.channel).wait("rang", undefined, { since: answer.cursor })).toMatchObject({
      occurrence: 1,
    });
    await made.close();
    await live.close();
  });

  it("answers what runs while the live surface closes, and says that it is closing to whoever comes then", async () => {
    let finish = (): void => {};
    const live = implementSurface(defineSurface("s", { run: surface.members.run }), {
      run: () => new Promise<number>((resolve) => (finish = () => resolve(7))),
    });
    const asked = defineSurface("s", { run: surface.members.run });
    const made = new ReconnectingSurface({ link: inProcess(live), surface: asked });
    const running = operationsOf(made.channel).call("run", undefined, {});
    await settle();
    const closing = live.close();
    await settle();
    await expect(operationsOf(made.channel).call("run", undefined, {})).rejects.toMatchObject({ code: "CLOSED" });
    finish();
    expect(await running).toBe(7);
    await closing;
    await made.close();
  });

  it("tells every use at once that what is connected to is another surface, and says why to whoever runs it", async () => {
    const asked = defineSurface("s", { ...surface.members, value: cell({ schema: z.string() }) });
    const causes: unknown[] = [];
    const made = new ReconnectingSurface({
      link: inProcess(implement()),
      surface: asked,
      onUnreachable: (cause) => causes.push(cause),
    });
    const refused = { code: "CONTRACT_MISMATCH" };
    await expect(operationsOf(made.channel).get("value", {})).rejects.toMatchObject(refused);
    await expect(operationsOf(made.channel).wait("rang", undefined, { since: "a.1" })).rejects.toMatchObject(refused);
    await expect(take(operationsOf(made.channel).watch("value", {}), 1)).rejects.toMatchObject(refused);
    expect(causes).toMatchObject([{ code: "CONTRACT_MISMATCH" }]);
    await made.close();
  });
});

describe("ReconnectingSurface, its connection", () => {
  it("is dialled once for first uses that come at once, and shared", async () => {
    const { link, channel } = open("hold");
    const asking = Array.from({ length: 20 }, () => channel.get("value", {}));
    const watching = take(channel.watch("value", {}), 1);
    await settle();
    link.lastDial.accept();
    await settle();
    for (const { answer } of link.last.asked) answer(1);
    expect(await Promise.all(asking)).toEqual(Array.from({ length: 20 }, () => 1));
    expect(await watching).toEqual([1]);
    expect(link.dials).toHaveLength(1);
  });

  it("is closed once when its dial ends after everybody has left, whose signal it was told by", async () => {
    const { link, channel } = open("hold");
    const controller = new AbortController();
    const outcome = outcomeOf(channel.get("value", { signal: controller.signal }));
    await settle();
    controller.abort();
    await settle();
    expect(outcome.cause).toMatchObject({ code: "ABORTED" });
    expect([link.lastDial.signal?.aborted, listeners(controller.signal)]).toEqual([true, 0]);
    const late = link.lastDial.accept();
    await settle();
    expect(late.closes).toBe(1);
    late.end(lost);
    await settle();
    expect(late.closes).toBe(1);
  });

  it("is not taken from the others when one of those who wait for it leaves", async () => {
    const { link, channel } = open("hold");
    const controller = new AbortController();
    const { signal } = controller;
    const patient = channel.get("value", {});
    const cut = Promise.allSettled([
      channel.get("value", { signal }),
      channel.call("run", undefined, { signal }),
      channel.watch("value", { signal })[Symbol.asyncIterator]().next(),
    ]);
    await settle();
    controller.abort();
    expect(await cut).toMatchObject([
      { reason: { code: "ABORTED" } },
      { reason: { code: "ABORTED" } },
      { value: { done: true } },
    ]);
    expect(listeners(signal)).toBe(0);
    link.lastDial.accept();
    await settle();
    expect(link.last.asked).toHaveLength(1);
    link.last.asked[0]?.answer(1);
    expect(await patient).toBe(1);
    expect([link.dials.length, link.last.followed]).toEqual([1, 0]);
  });

  it("is not dialled for one whose signal had fired", async () => {
    const { link, channel } = open("hold");
    const signal = AbortSignal.abort();
    await expect(channel.get("value", { signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await take(channel.watch("value", { signal }), 1)).toEqual([]);
    await settle();
    expect(link.dials.every((dial) => dial.signal?.aborted)).toBe(true);
  });

  it("is closed when nobody has used it for a while, and dialled anew for the next use", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    const first = await connect(opened);
    await clock.pass(idleMs - 1);
    const second = channel.get("value", {});
    await settle();
    await clock.pass(idleMs);
    expect(first.closes).toBe(0);
    first.asked[1]?.answer(1);
    await second;
    await clock.pass(idleMs - 1);
    expect(first.closes).toBe(0);
    await clock.pass(1);
    expect([first.closes, clock.size]).toEqual([1, 0]);
    await connect(opened);
    expect(link.dials).toHaveLength(2);
  });

  it("is closed at once with its last use when it is not to be kept", async () => {
    const opened = open("accept", 0);
    const first = await connect(opened);
    expect([first.closes, opened.clock.size]).toEqual([1, 0]);
  });

  it("is dialled again when it was born dead, and what waited is served by the next", async () => {
    const { clock, link, channel } = open("hold");
    const outcome = outcomeOf(channel.call("run", undefined, {}));
    await settle();
    const dead = new ScriptedConnection();
    dead.end(lost);
    link.lastDial.accept(dead);
    await clock.pass(25);
    expect([link.dials.length, dead.closes]).toEqual([2, 1]);
    link.lastDial.accept();
    await settle();
    link.last.asked[0]?.answer(5);
    await settle();
    expect(outcome).toEqual({ value: 5 });
  });

  it("takes no new use once it says that it is going, and still answers what runs", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    const first = await connect(opened);
    const [reading, running] = [channel.get("value", {}), channel.call("run", undefined, {})];
    await settle();
    first.announce();
    await settle();
    const next = channel.call("run", undefined, {});
    await clock.pass(25);
    expect(link.connections).toHaveLength(2);
    first.asked[1]?.answer(1);
    first.asked[2]?.answer(2);
    link.last.asked[0]?.answer(3);
    expect(await Promise.all([reading, running, next])).toEqual([1, 2, 3]);
    expect(link.last.asked).toHaveLength(1);
    first.end({ kind: "gone" });
    await settle();
    expect([first.closes, link.last.closes]).toEqual([1, 0]);
  });

  it("is not touched by a late end of the one before", async () => {
    const opened = open();
    const first = await connect(opened);
    first.announce();
    await settle();
    await connect(opened);
    first.end(lost);
    await settle();
    await connect(opened);
    expect(opened.link.dials).toHaveLength(2);
  });

  it("is over as well when its link says so by a rejection, and may fail to close in any way", async () => {
    const opened = open("hold");
    const { clock, link, channel } = opened;
    const outcome = outcomeOf(channel.get("value", {}));
    await settle();
    const odd = new ScriptedConnection();
    let breakOff = (_cause: Error): void => {};
    odd.closed = new Promise((_resolve, reject) => (breakOff = reject));
    odd.onClose = () => {
      throw new Error("thrown");
    };
    link.lastDial.accept(odd);
    await settle();
    breakOff(new Error("rejected"));
    await clock.pass(25);
    link.lastDial.accept();
    link.last.onClose = () => Promise.reject(new Error("rejected"));
    await settle();
    link.last.asked[0]?.answer(1);
    await settle();
    expect(outcome).toEqual({ value: 1 });
    await opened.held.close();
    expect([odd.closes, link.last.closes]).toEqual([1, 1]);
  });

  it("is reported as out of reach once each time that it goes away", async () => {
    const opened = open("refuse");
    const { clock, link, channel, unreachable } = opened;
    const outcome = outcomeOf(channel.get("value", {}));
    await clock.pass(500);
    expect(link.dials.length).toBeGreaterThan(3);
    expect(unreachable).toEqual([new Error("refused")]);
    link.answer = "accept";
    await clock.pass(1000);
    link.last.asked[0]?.answer(1);
    await settle();
    expect(outcome).toEqual({ value: 1 });
    link.last.end(lost);
    link.answer = "refuse";
    void outcomeOf(channel.get("value", {}));
    await clock.pass(500);
    expect(unreachable).toHaveLength(2);
  });
});

describe("ReconnectingSurface, isReachable()", () => {
  it("leaves a signal that outlives it alone when it was answered, and when that fired", async () => {
    const { signal } = new AbortController();
    const near = open();
    expect(await near.held.isReachable(signal)).toBe(true);
    // There is a connection by now: it is answered at once.
    expect(await near.held.isReachable(signal)).toBe(true);
    expect(listeners(signal)).toBe(0);
    const impatient = new AbortController();
    const far = open("hold");
    const asked = far.held.isReachable(impatient.signal);
    await settle();
    expect(listeners(impatient.signal)).toBe(1);
    impatient.abort();
    expect(await asked).toBe(false);
    expect(listeners(impatient.signal)).toBe(0);
  });
});

describe("ReconnectingSurface, close()", () => {
  const refused = async ({ channel, link }: Opened, dials: number): Promise<void> => {
    await expect(channel.get("value", {})).rejects.toMatchObject({ code: "CLOSED" });
    await expect(channel.call("run", undefined, {})).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => channel.watch("value", {})).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await settle();
    expect(link.dials).toHaveLength(dials);
  };

  it("lets nothing be dialled when nothing was", async () => {
    const opened = open();
    await Promise.all([opened.held.close(), opened.held.close()]);
    await refused(opened, 0);
    expect(opened.clock.size).toBe(0);
  });

  it("tells a dial under way, fails those who wait for it, and closes once what it still opens", async () => {
    const opened = open("hold");
    const { held: made, link, channel, clock } = opened;
    const waiting = Promise.allSettled([
      channel.get("value", {}),
      channel.call("run", undefined, {}),
      channel.watch("value", {})[Symbol.asyncIterator]().next(),
    ]);
    await settle();
    await made.close();
    expect([link.lastDial.signal?.aborted, clock.size]).toEqual([true, 0]);
    expect(await waiting).toMatchObject([
      { reason: { code: "CLOSED" } },
      { reason: { code: "CLOSED" } },
      { value: { done: true } },
    ]);
    const late = link.lastDial.accept();
    await settle();
    expect(late.closes).toBe(1);
    await refused(opened, 1);
  });

  it("gives up between two dials", async () => {
    const opened = open("refuse");
    const outcome = outcomeOf(opened.channel.get("value", {}));
    await settle();
    await opened.held.close();
    expect(outcome.cause).toMatchObject({ code: "CLOSED" });
    expect(opened.clock.size).toBe(0);
    await refused(opened, 1);
  });

  it("closes the connection and waits for that, ends what is iterated over, fails what was asked", async () => {
    const opened = open();
    const { held: made, channel, clock } = opened;
    const first = await connect(opened);
    const values = channel.watch("value", {})[Symbol.asyncIterator]();
    await values.next();
    const next = values.next();
    const asking = outcomeOf(channel.get("value", {}));
    await settle();
    let finish = (): void => {};
    first.onClose = () => new Promise((resolve) => (finish = resolve));
    const closing = outcomeOf(made.close());
    await settle();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(asking.cause).toMatchObject({ code: "CLOSED" });
    expect([closing, first.following, clock.size]).toEqual([{}, 0, 0]);
    finish();
    await until(() => "value" in closing);
    await refused(opened, 1);
  });

  it("closes one that is going, and one whose far side answers nothing more", async () => {
    const opened = open();
    const { held: made, channel } = opened;
    const first = await connect(opened);
    // Neither ends when it is returned, nor before its connection does.
    let free = (): void => {};
    first.onFollow = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: () => new Promise((resolve) => (free = () => resolve({ done: true, value: undefined }))),
      }),
    });
    first.onClose = async () => free();
    const next = channel.watch("value", {})[Symbol.asyncIterator]().next();
    await settle();
    first.announce();
    await settle();
    await made.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(first.closes).toBe(1);
  });
});

describe("ReconnectingSurface over a link written by hand", () => {
  it.each(["state", "closed"] as const)(
    "fails its uses, and closes the connection, when that has no %s",
    async (name) => {
      const opened = open("hold");
      const call = outcomeOf(opened.channel.call("run", undefined, {}));
      const read = outcomeOf(opened.channel.get("value", {}));
      await settle();
      const scripted = new ScriptedConnection();
      const toConnection = scripted.toConnection.bind(scripted);
      scripted.toConnection = (asked) => ({ ...toConnection(asked), [name]: undefined });
      opened.link.lastDial.accept(scripted);
      await settle();
      expect([call.cause, read.cause]).toMatchObject([{ code: "PROTOCOL_MISMATCH" }, { code: "PROTOCOL_MISMATCH" }]);
      expect(String(call.cause)).toContain(`the connection of its link has no ${name}`);
      expect(opened.unreachable).toEqual([call.cause]);
      expect(scripted.closes).toBe(1);
    },
  );
});
