import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { withRevocation } from "../../../src/http/auth/verdict.ts";
import { openSteps, type Steps } from "./app.ts";
import { callOf, SessionHarness, type FakeReply } from "./session-harness.ts";

const opened: SessionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

const alice: Caller = { id: "alice", isAnonymous: false, scopes: ["steps:read"] };

interface Opened {
  readonly harness: SessionHarness;
  readonly steps: Steps;
}

function open(bounds: Partial<HttpBounds> = {}, isGateway = false): Opened {
  const steps = openSteps({ isGateway });
  const harness = new SessionHarness(steps.runtime, { keepAliveMs: 0, sessionIdleMs: 0, ...bounds });
  opened.push(harness);
  return { harness, steps };
}

async function subscribe(harness: SessionHarness, session: string, uri = "app://state"): Promise<void> {
  const reply = harness.post({ id: uri, method: "resources/subscribe", params: { uri } }, { session });
  await harness.until(() => reply.isOver);
  expect(reply.plain).toMatchObject({ status: 200, body: { result: {} } });
}

/** Changes what is watched, until its reader has heard of so many changes. */
async function change({ harness, steps }: Opened, reply: FakeReply, count: number): Promise<void> {
  await harness.until(() => {
    if (reply.messages.length < count) steps.change();
    return reply.messages.length >= count;
  });
}

function urisOf(reply: FakeReply): unknown[] {
  return reply.messages.map(({ method, params }) => Reflect.get(Object(params), "uri") ?? method);
}

/** How far each message says that its call has come; `undefined`: it says something else. */
function reportsOf(reply: FakeReply): unknown[] {
  return reply.messages.map(({ params }) => Reflect.get(Object(params), "progress"));
}

async function takeStep({ harness, steps }: Opened): Promise<void> {
  steps.step();
  await harness.until(() => steps.waiting > 0);
}

/** Has a call walk a few steps and arrive, whose client leaves behind the first. */
async function leaveWalk(all: Opened, count: number): Promise<Opened & { session: string; reply: FakeReply }> {
  const { harness, steps } = all;
  const session = await harness.open();
  const reply = harness.post(callOf(1, "walk", { token: 1 }), { session });
  await harness.until(() => steps.waiting === 1);
  await takeStep(all);
  reply.cut();
  for (let at = 1; at < count; at += 1) await takeStep(all);
  steps.arrive();
  await harness.until(() => steps.counts.arrived === 1);
  return { ...all, session, reply };
}

const ids = (reply: FakeReply): (string | undefined)[] => reply.events.map(({ id }) => id);
const listChanged = "notifications/resources/list_changed";

describe("SessionHandler's streams", () => {
  it("count the backend stage when a subscription looks up its resource, and not before", async () => {
    const { harness } = open();
    const session = await harness.open();
    const { gate } = harness.counters.read();
    const wrong = harness.post({ id: 1, method: "resources/subscribe", params: { uri: 1 } }, { session });
    await harness.until(() => wrong.isOver);
    expect(harness.counters.read().gate).toBe(gate);
    await subscribe(harness, session);
    expect(harness.counters.read().gate).toBe(gate + 1);
  });

  it("carry notifications of changes, each under its own event id", async () => {
    const all = open();
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    const stream = all.harness.get({ session });
    await change(all, stream, 2);
    expect(urisOf(stream)).toEqual(["app://state", "app://state"]);
    expect(new Set(ids(stream)).size).toBe(3);
    expect(stream.headers).toMatchObject({ "content-type": "text/event-stream", "mcp-session-id": session });
    expect(ids(stream).some((id) => id?.includes(session.slice(0, 8)))).toBe(false);
  });

  it("need a client that accepts them, and are one at a time", async () => {
    const { harness } = open();
    const session = await harness.open();
    const headers = { accept: "application/json" };
    expect(harness.get({ session, headers }).plain.status).toBe(406);
    expect(harness.get({ session }).sink?.state).toBe("open");
    expect(harness.get({ session }).plain.status).toBe(409);
  });

  it("begin with an id to resume from for clients that understand that, and for no others", async () => {
    const { harness } = open();
    const [now, before] = [await harness.open(), await harness.open({ version: "2025-06-18" })];
    expect(harness.get({ session: now }).sink?.text).toMatch(/^id: [0-9a-f]{12}\.0\.0\nretry: 1000\ndata: \n\n$/);
    expect(harness.get({ session: before }).sink?.text).toBe("");
  });

  it("continue after the last event id, also in place of a half-open connection", async () => {
    const all = open();
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    const first = all.harness.get({ session });
    await change(all, first, 3);
    const second = all.harness.get({ session }, first.events[2]?.id);
    expect(first.sink?.state).toBe("destroyed");
    expect(ids(second)).toEqual([ids(first)[3]]);
    await change(all, second, 2);
    expect(new Set([...ids(first), ...ids(second)]).size).toBe(5);
    expect(all.harness.setting.admission.counts.streams).toBe(1);
  });

  it("belong to the last client that resumed them when the call has ended", async () => {
    const { harness, session, reply } = await leaveWalk(open(), 5);
    const get = (room: number): FakeReply => harness.get({ session }, ids(reply)[1], room);
    await harness.until(() => get(2).messages.length === 2);
    const [one, two, three] = [get(1), get(2), get(Infinity)];
    expect([one.sink?.state, two.sink?.state]).toEqual(["destroyed", "destroyed"]);
    two.sink?.drain();
    expect(two.messages.length).toBe(2);
    expect(reportsOf(three)).toEqual([2, 3, 4, 5, undefined]);
    expect(three.sink?.state).toBe("ended");
    expect(harness.setting.admission.counts.streams).toBe(0);
  });

  it("end with their session when their call has ended and their client is slow", async () => {
    const { harness, session, reply } = await leaveWalk(open(), 1);
    const get = (): FakeReply => harness.get({ session }, ids(reply)[0], 1);
    const replies = [get(), get(), get()];
    harness.delete({ session });
    expect(replies.map(({ sink }) => sink?.state)).toEqual(["destroyed", "destroyed", "ended"]);
    expect(harness.setting.admission.counts.streams).toBe(0);
  });

  it("keep one notification for each URI while no client reads", async () => {
    const all = open();
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    for (let at = 0; at < 4; at += 1) {
      all.steps.change();
      // Longer than what is announced as one change.
      await sleep(120);
    }
    const stream = all.harness.get({ session });
    expect(urisOf(stream)).toEqual(["app://state"]);
  });

  it("drop the watches of a client that does not listen for long, and report a change when it returns", async () => {
    const all = open({ sessionIdleMs: 0, stallMs: 1000 });
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    await all.harness.clock.pass(2000);
    all.steps.change();
    await all.harness.clock.pass(2000);
    const stream = all.harness.get({ session });
    await all.harness.until(() => stream.messages.length > 0);
    expect(new Set(urisOf(stream))).toEqual(new Set([listChanged, "app://state"]));
  });

  it.each(["nope", "", "0123456789ab.0.0", "0123456789ab.0.1e3"])("are not resumed with the id %j", async (id) => {
    const { harness } = open();
    const session = await harness.open();
    expect(harness.get({ session }, id).plain).toMatchObject({ status: 400, body: { error: { code: -32000 } } });
  });

  it("cannot be resumed with an event id of another session, or of the future", async () => {
    const all = open();
    const { harness } = all;
    const [mine, other] = [await harness.open(), await harness.open()];
    await subscribe(harness, other);
    const foreign = harness.get({ session: other });
    await change(all, foreign, 2);
    const id = ids(foreign)[1] ?? "";
    for (const [session, lastId] of [
      [mine, id],
      [other, id.replace(/\.\d+$/, ".99")],
      [other, id.replace(/\.0\.\d+$/, ".7.1")],
    ] as const) {
      const reply = harness.get({ session }, lastId);
      expect(reply.plain.status).toBe(400);
      expect(reply.sink).toBeUndefined();
    }
    expect(foreign.sink?.state).toBe("open");
  });

  it("send the kept events and a notice of the missed ones for an event id that was dropped", async () => {
    const all = open({ maxQueued: 2 });
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    const first = all.harness.get({ session });
    await change(all, first, 6);
    first.cut();
    const second = all.harness.get({ session }, ids(first)[1]);
    expect(urisOf(second)).toEqual([listChanged, "app://state", "app://state", listChanged, "app://state"]);
    expect(ids(second).slice(0, 3)).toEqual(ids(first).slice(4));
    expect(new Set(ids(second)).size).toBe(5);
    expect(all.harness.leg.dropped).toBe(0);
  });

  it("keep results longer than progress, and count dropped events that were never sent", async () => {
    const all = open({ maxQueued: 4 });
    const { harness, steps } = all;
    const session = await harness.open();
    const replies = ["a", "b"].map((token, id) => harness.post(callOf(id, "walk", { token }), { session }));
    await harness.until(() => steps.waiting === 2);
    const step = async (): Promise<void> => {
      steps.step();
      await harness.until(() => steps.waiting === 2);
    };
    await step();
    for (const reply of replies) reply.cut();
    for (let at = 0; at < 4; at += 1) await step();
    expect(harness.leg.dropped).toBe(4);
    steps.arrive();
    await harness.until(() => steps.counts.arrived === 2);
    await harness.until(() => harness.leg.dropped === 6);
    for (const [at, reply] of replies.entries()) {
      const resumed = harness.get({ session }, reply.events[1]?.id);
      expect(resumed.sink?.state).toBe("ended");
      expect(resumed.messages[0]).toMatchObject({ method: listChanged });
      expect(resumed.messages.at(-1)).toMatchObject({ id: at, result: {} });
    }
  });

  it("say once of a call that something was missed when nothing of it is kept", async () => {
    const all = open({ maxQueued: 1 });
    const { harness, steps } = all;
    const session = await harness.open();
    const [first, second] = [1, 2].map((id) => harness.post(callOf(id, "walk", { token: id }), { session }));
    await harness.until(() => steps.waiting === 2);
    steps.step();
    await harness.until(() => steps.waiting === 2);
    steps.arrive();
    await harness.until(() => second?.sink?.state === "ended");
    const resumed = harness.get({ session }, first?.events[1]?.id);
    expect(urisOf(resumed)).toEqual([listChanged]);
    expect(resumed.sink?.state).toBe("ended");
    expect(harness.get({ session }, ids(resumed)[0]).given?.status).toBe(204);
  });

  it("pause for a slow client, and end when it does not read for long", async () => {
    const all = open({ stallMs: 1000 });
    const session = await all.harness.open();
    await subscribe(all.harness, session);
    const stream = all.harness.get({ session });
    if (stream.sink !== undefined) stream.sink.isFull = true;
    for (let at = 0; at < 5; at += 1) {
      all.steps.change();
      await all.harness.clock.pass(150);
    }
    const before = stream.messages.length;
    expect(before).toBeLessThanOrEqual(1);
    stream.sink?.drain(1);
    expect(stream.messages.length).toBe(before + 1);
    await all.harness.clock.pass(1000);
    expect(stream.sink?.state).toBe("destroyed");
    expect(all.harness.get({ session }).sink?.state).toBe("open");
  });

  it("end when their caller's token expires, and can be resumed with a newer one", async () => {
    const { harness } = open();
    const caller: Caller = { ...alice, expiresAt: Date.now() / 1000 + 60 };
    const session = await harness.open({ caller });
    const stream = harness.get({ session, caller });
    await harness.clock.pass(50_000);
    expect(stream.sink?.state).toBe("open");
    await harness.clock.pass(11_000);
    expect(stream.sink?.state).toBe("ended");
    expect(harness.get({ session, caller: { ...caller, expiresAt: Date.now() / 1000 + 600 } }).sink?.state).toBe(
      "open",
    );
  });

  it("end at once when their caller's token is revoked, and can be resumed with another one", async () => {
    const { harness } = open();
    const controller = new AbortController();
    const caller = withRevocation(alice, controller.signal);
    const session = await harness.open({ caller });
    const [stream, other] = [harness.get({ session, caller }), await harness.open({ caller: alice })];
    const stays = harness.get({ session: other, caller: alice });
    controller.abort();
    expect([stream.sink?.state, stays.sink?.state]).toEqual(["ended", "open"]);
    expect(harness.get({ session, caller: alice }).sink?.state).toBe("open");
    // Taken back while it was on its way.
    const late = harness.get({ session: other, caller });
    await harness.clock.pass(1);
    expect(late.sink?.state).not.toBe("open");
  });

  it("last until their caller's token expires, also beyond the longest timer", async () => {
    const { harness } = open();
    const dayMs = 86_400_000;
    const caller: Caller = { ...alice, expiresAt: (Date.now() + 30 * dayMs) / 1000 };
    const session = await harness.open({ caller });
    const stream = harness.get({ session, caller });
    await harness.clock.pass(29 * dayMs);
    expect(stream.sink?.state).toBe("open");
    await harness.clock.pass(2 * dayMs);
    expect(stream.sink?.state).toBe("ended");
  });

  it("are refused at their caller's limit, and count no longer when they end", async () => {
    const { harness } = open({ maxStreams: 1 });
    const [one, two] = [await harness.open(), await harness.open()];
    const stream = harness.get({ session: one });
    const refused = harness.get({ session: two });
    expect(refused.plain).toMatchObject({ status: 429, body: { error: { data: { scope: "global", limit: 1 } } } });
    stream.cut();
    expect(harness.get({ session: two }).sink?.state).toBe("open");
  });

  it("reuse the permit of the connection that they replace", async () => {
    const { harness } = open({ maxStreams: 1 });
    const session = await harness.open();
    const first = harness.get({ session });
    const second = harness.get({ session }, ids(first)[0]);
    expect([first.sink?.state, second.sink?.state]).toEqual(["destroyed", "open"]);
    expect(harness.setting.admission.counts.streams).toBe(1);
    second.cut();
    expect(harness.setting.admission.counts.streams).toBe(0);
  });

  it.each([
    ["does not read", 31_000, true],
    ["is nobody any more", 61_000, false],
  ])("abort the call that only they waited for when the client %s, and no other call", async (_, afterMs, isFull) => {
    const { harness, steps } = open();
    const caller = { ...alice, expiresAt: Date.now() / 1000 + 60 };
    const session = await harness.open({ caller });
    const replies = ["stroll", "walk"].map((name, id) =>
      harness.post(callOf(id, name, { token: id }), { session, caller }),
    );
    await harness.until(() => steps.waiting === 2);
    steps.step();
    await harness.until(() => steps.waiting === 2);
    for (const { sink } of replies) if (sink !== undefined) sink.isFull = isFull;
    steps.step();
    await harness.until(() => steps.waiting === 2);
    await harness.clock.pass(afterMs);
    expect(replies.map(({ sink }) => sink?.state)).not.toContain("open");
    await harness.until(() => steps.counts.aborted > 0);
    steps.arrive();
    await harness.until(() => steps.counts.arrived > 0);
    expect(steps.counts).toEqual({ aborted: 1, arrived: 1 });
  });

  it("abort such a call when the client that resumed it leaves, and not when another client resumes it", async () => {
    const { harness, steps } = open();
    const session = await harness.open();
    const reply = harness.post(callOf(1, "stroll", { token: 1 }), { session });
    await harness.until(() => steps.waiting === 1);
    await takeStep({ harness, steps });
    const resumed = harness.get({ session }, ids(reply)[1]);
    expect(reply.sink?.state).toBe("destroyed");
    await takeStep({ harness, steps });
    expect(reportsOf(resumed)).toEqual([2]);
    resumed.cut();
    await harness.until(() => steps.counts.aborted === 1);
  });

  it("abort the calls of a batch whose tool is abortable when the client leaves, and start none of them later", async () => {
    const { harness, steps } = open({}, true);
    const session = await harness.open();
    const args = { calls: ["walk", "stroll", "walk"].map((tool) => ({ tool })) };
    const one = harness.post(callOf(1, "call", { token: 1, args }), { session });
    const two = harness.post(callOf(2, "call", { token: 2, args: { ...args, parallel: true } }), { session });
    await harness.until(() => steps.waiting === 4);
    steps.step();
    await harness.until(() => steps.waiting === 4);
    one.cut();
    two.cut();
    await harness.until(() => steps.counts.aborted === 1);
    steps.arrive();
    // The last of the first batch, which stands behind the one that is not begun.
    await harness.until(() => steps.counts.arrived === 3 && steps.waiting === 1);
    steps.arrive();
    await harness.until(() => steps.counts.arrived === 4);
    expect(steps.counts).toEqual({ aborted: 1, arrived: 4 });
  });

  it("end when the server is to close, which waits for the calls", async () => {
    const all = open();
    const { harness, steps } = all;
    const session = await harness.open();
    const stream = harness.get({ session });
    const reply = harness.post(callOf(1, "walk"), { session });
    await harness.until(() => steps.waiting === 1);
    let isDrained = false;
    const drained = harness.leg.drain().then(() => (isDrained = true));
    expect(stream.sink?.state).toBe("ended");
    expect(harness.post(callOf(2, "walk"), { session }).plain.status).toBe(503);
    expect(harness.get({ session }).plain.status).toBe(503);
    expect(isDrained).toBe(false);
    steps.arrive();
    await drained;
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, result: {} } });
  });

  it("of calls are resumed when the server is to close, and no other is", async () => {
    const { harness, steps } = open();
    const session = await harness.open();
    const stream = harness.get({ session });
    const reply = harness.post(callOf(1, "walk", { token: 1 }), { session });
    await harness.until(() => steps.waiting === 1);
    await takeStep({ harness, steps });
    const drained = harness.leg.drain();
    reply.cut();
    await takeStep({ harness, steps });
    const resumed = harness.get({ session }, ids(reply)[1]);
    expect(harness.get({ session }, ids(stream)[0]).plain.status).toBe(503);
    steps.arrive();
    await drained;
    expect(reportsOf(resumed)).toEqual([2, undefined]);
    expect(resumed.messages.at(-1)).toMatchObject({ id: 1, result: {} });
    expect(resumed.sink?.state).toBe("ended");
  });

  it("release everything when the handler is closed", async () => {
    const all = open({ keepAliveMs: 1000 });
    const { harness, steps } = all;
    const session = await harness.open();
    await subscribe(harness, session);
    const stream = harness.get({ session });
    const reply = harness.post(callOf(1, "walk", { token: 1 }), { session });
    await harness.until(() => steps.waiting === 1);
    await harness.leg.close();
    expect(stream.sink?.state).toBe("ended");
    expect(reply.isOver).toBe(true);
    // A session's place is free when the work of its calls has ended.
    await harness.until(() => harness.setting.admission.counts.sessions === 0);
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.clock.size).toBe(0);
  });
});
