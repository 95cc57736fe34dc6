import { afterEach, describe, expect, it } from "vitest";
import { type Caller, anonymous } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { openSteps, type Steps } from "./app.ts";
import { callOf, handshakeOf, SessionHarness, type FakeReply } from "./session-harness.ts";

const opened: SessionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

interface Opened {
  readonly harness: SessionHarness;
  readonly steps: Steps;
}

function open(bounds: Partial<HttpBounds> = {}): Opened {
  const steps = openSteps();
  const harness = new SessionHarness(steps.runtime, bounds);
  opened.push(harness);
  return { harness, steps };
}

/** A session in which a call walks that has taken so many steps, and the answer of its POST. */
async function walkIn(
  { harness, steps }: Opened,
  taken: number,
  version = "2025-11-25",
): Promise<{ session: string; reply: FakeReply }> {
  const session = await harness.open({ version });
  const reply = harness.post(callOf(1, "walk", { token: "t" }), { session });
  await harness.until(() => steps.waiting === 1);
  for (let step = 0; step < taken; step += 1) await takeStep({ harness, steps });
  return { session, reply };
}

async function takeStep({ harness, steps }: Opened): Promise<void> {
  steps.step();
  await harness.until(() => steps.waiting === 1);
}

const scopes = ["steps:read", "steps:write"];
const alice: Caller = { id: "alice", isAnonymous: false, scopes };
const bob: Caller = { id: "bob", isAnonymous: false, scopes };

function stepsOf(messages: readonly Record<string, unknown>[]): unknown[] {
  return messages.map((message) => Reflect.get(Object(message["params"]), "progress") ?? Object.keys(message).at(-1));
}

describe("SessionHandler", () => {
  it("opens a session with a handshake, and answers in it", async () => {
    const { harness } = open();
    const session = await harness.open();
    expect(session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const reply = harness.post(callOf(1, "echo", { args: { text: "hi" } }), { session });
    await harness.until(() => reply.isOver);
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, result: { structuredContent: { text: "hi" } } } });
    expect(reply.headers).toMatchObject({ "mcp-session-id": session, "content-type": "application/json" });
  });

  it("answers a call with a token as a stream: progress, the result, and then the end", async () => {
    const all = open();
    const { reply } = await walkIn(all, 2);
    all.steps.arrive();
    await all.harness.until(() => reply.sink?.state === "ended");
    expect(reply.messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1 } },
      { method: "notifications/progress", params: { progressToken: "t", progress: 2 } },
      { id: 1, result: { structuredContent: { done: true } } },
    ]);
    const ids = reply.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => /^[0-9a-f]{12}\.1\.[0-3]$/.test(id ?? ""))).toBe(true);
  });

  it("answers with one JSON response without a progress token, also if the call reports progress", async () => {
    const all = open();
    const session = await all.harness.open();
    const reply = all.harness.post(callOf(1, "walk"), { session });
    await all.harness.until(() => all.steps.waiting === 1);
    await takeStep(all);
    all.steps.arrive();
    await all.harness.until(() => reply.isOver);
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, result: {} } });
  });

  it("answers with one JSON response when its client does not accept streams", async () => {
    const all = open();
    const session = await all.harness.open();
    const headers = { accept: "application/json" };
    const reply = all.harness.post(callOf(1, "walk", { token: "t" }), { session, headers });
    await all.harness.until(() => all.steps.waiting === 1);
    await takeStep(all);
    all.steps.arrive();
    await all.harness.until(() => reply.isOver);
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, result: {} } });
  });

  it("answers with one JSON error when no report came before it", async () => {
    const { harness } = open();
    const session = await harness.open();
    const reply = harness.post(callOf(1, "nope", { token: "t" }), { session });
    await harness.until(() => reply.isOver);
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, error: { code: -32602 } } });
  });

  it("opens the stream of a call with a token when that has been silent for a while, and keeps it alive", async () => {
    const all = open({ keepAliveMs: 1000 });
    const { reply } = await walkIn(all, 0, "2025-06-18");
    expect(reply.sink).toBeUndefined();
    await all.harness.clock.pass(1000);
    expect(reply.sink?.text).toBe("");
    await all.harness.clock.pass(1000);
    expect(reply.sink?.text).toContain(": keep-alive");
  });

  it("opens the stream with an event id when the handler starts, so that it can be resumed", async () => {
    const all = open();
    const { session, reply } = await walkIn(all, 0);
    expect(reply.events).toMatchObject([{ data: undefined }]);
    reply.cut();
    await takeStep(all);
    const resumed = all.harness.get({ session }, reply.events[0]?.id);
    expect(stepsOf(resumed.messages)).toEqual([1]);
    all.steps.arrive();
    await all.harness.until(() => resumed.sink?.state === "ended");
    expect(stepsOf(resumed.messages)).toEqual([1, "result"]);
  });

  it("answers a request that is refused before its handler with a status, also with a progress token", async () => {
    const { harness } = open({ maxInFlight: 1 });
    const caller = { ...alice, scopes: [] };
    const session = await harness.open({ caller });
    const denied = harness.post(callOf("d", "walk", { token: "d" }), { session, caller });
    await harness.until(() => denied.isOver);
    expect(denied.plain.status).toBe(403);
    for (let id = 0; id < 257; id += 1) harness.post(callOf(id, "walk", { token: id }), { session, caller: alice });
    const refused = harness.post(callOf(257, "walk", { token: 257 }), { session, caller: alice });
    expect(refused.plain.status).toBe(429);
  });

  it("answers each of two sessions with its own when both use the same ids", async () => {
    const { harness } = open();
    const sessions = [await harness.open(), await harness.open({ caller: alice })];
    const callers = [anonymous, alice];
    for (let id = 0; id < 5000; id += 250) {
      const batch = Array.from({ length: 500 }, (_, at) => {
        const [which, number] = [at % 2, id + Math.floor(at / 2)];
        const text = `${which} ${number} ${Math.random()}`;
        const sent = { session: sessions[which], caller: callers[which] ?? anonymous };
        return { text, number, reply: harness.post(callOf(number, "echo", { args: { text } }), sent) };
      });
      await harness.until(() => batch.every(({ reply }) => reply.isOver));
      for (const { text, number, reply } of batch) {
        expect(reply.plain.body).toMatchObject({ id: number, result: { structuredContent: { text } } });
      }
    }
  });

  it("refuses a request whose id is still in use, and answers the first one", async () => {
    const all = open();
    const session = await all.harness.open();
    const first = all.harness.post(callOf(1, "walk"), { session });
    const second = all.harness.post(callOf(1, "echo", { args: { text: "hi" } }), { session });
    expect(second.plain).toMatchObject({ status: 400, body: { id: 1, error: { code: -32600 } } });
    await all.harness.until(() => all.steps.waiting === 1);
    all.steps.arrive();
    await all.harness.until(() => first.isOver);
    expect(first.plain.body).toMatchObject({ id: 1, result: {} });
  });

  it("refuses a call with 429 when as many of its session run and wait as may", async () => {
    const { harness } = open({ maxInFlight: 1 });
    const session = await harness.open();
    for (let id = 0; id < 257; id += 1) harness.post(callOf(id, "walk"), { session });
    expect(harness.post(callOf(257, "walk"), { session }).plain).toMatchObject({
      status: 429,
      body: { id: 257, error: { code: -32000 } },
    });
    expect(harness.post({ id: "p", method: "ping" }, { session }).plain.status).toBe(200);
  });

  it("answers -32601 at once to a method that no handler serves, and frees its id", async () => {
    const { harness } = open();
    const session = await harness.open();
    for (const method of ["nope/nothing", "server/discover", "nope/nothing"]) {
      const reply = harness.post({ id: 1, method }, { session });
      expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, error: { code: -32601 } } });
    }
  });
});

describe("SessionHandler's sessions", () => {
  it.each<readonly [string, string | undefined, { readonly status: number; readonly code: number }]>([
    ["no id", undefined, { status: 400, code: -32000 }],
    ["an id that never was", "00000000-0000-4000-8000-000000000000", { status: 404, code: -32001 }],
    ["what is no id", "a b", { status: 404, code: -32001 }],
  ])("are not found under %s", async (_, session, { status, code }) => {
    const { harness } = open();
    await harness.open();
    const replies = [
      harness.post({ id: 1, method: "tools/list" }, { session }),
      harness.post({ id: 1, method: "ping" }, { session }),
      harness.post({ method: "notifications/initialized" }, { session }),
      harness.post({ id: 1, result: {} }, { session }),
      harness.get({ session }),
      harness.delete({ session }),
    ];
    for (const { plain } of replies) expect(plain).toMatchObject({ status, body: { id: null, error: { code } } });
    expect(harness.counters.read()).toMatchObject({ caps: 1, gate: 0 });
  });

  it("do not exist for another principal", async () => {
    const { harness } = open();
    const session = await harness.open({ caller: alice });
    const [foreign, unknown] = [session, "00000000-0000-4000-8000-000000000000"].map((id) => [
      harness.post({ id: 1, method: "tools/list" }, { session: id, caller: bob }).given,
      harness.get({ session: id, caller: bob }).given,
      harness.delete({ session: id, caller: bob }).given,
    ]);
    expect(foreign).toEqual(unknown);
    const reply = harness.post({ id: 1, method: "tools/list" }, { session, caller: alice });
    await harness.until(() => reply.isOver);
    expect(reply.plain.status).toBe(200);
  });

  it("take the scopes of each request's own token", async () => {
    const { harness } = open();
    const session = await harness.open({ caller: alice });
    const statusOf = async (caller: Caller): Promise<number> => {
      const reply = harness.post(callOf(1, "echo", { args: { text: "hi" } }), { session, caller });
      await harness.until(() => reply.isOver);
      return reply.plain.status;
    };
    expect(await statusOf({ ...alice, scopes: [] })).toBe(403);
    expect(await statusOf(alice)).toBe(200);
  });

  it("refuse a revision that is not served", async () => {
    const { harness } = open();
    const session = await harness.open();
    const headers = { "mcp-protocol-version": "1900-01-01" };
    const reply = harness.post({ id: 1, method: "tools/list" }, { session, headers });
    expect(reply.plain).toMatchObject({ status: 400, body: { error: { code: -32000 } } });
    expect(harness.get({ session, headers }).plain.status).toBe(400);
  });

  it("refuse a second handshake, and know of none under an id that never was", async () => {
    const { harness } = open();
    const session = await harness.open();
    const again = harness.post(handshakeOf("2025-11-25"), { session });
    expect(again.plain).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    const unknown = harness.post(handshakeOf("2025-11-25"), { session: "00000000-0000-4000-8000-000000000000" });
    expect(unknown.plain.status).toBe(404);
  });

  it("hold no permit when the handshake fails", async () => {
    const { harness } = open({ maxSessions: 1 });
    const failed = harness.post({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    await harness.until(() => failed.isOver);
    expect(failed.plain.body).toMatchObject({ error: { code: -32602 } });
    expect(failed.headers["mcp-session-id"]).toBeUndefined();
    expect(harness.setting.admission.counts.sessions).toBe(0);
    expect(await harness.open()).not.toBe("");
  });

  it("are refused with scope and limit when too many are in use, and have room again after a DELETE", async () => {
    const { harness } = open({ maxSessions: 2, maxSessionsPerPrincipal: 1 });
    const session = await harness.open({ caller: alice });
    harness.get({ session, caller: alice });
    const refusedTo = async (caller: Caller): Promise<unknown> => {
      const reply = harness.post(handshakeOf("2025-11-25"), { caller });
      await harness.until(() => reply.isOver);
      return reply.plain;
    };
    const own = { code: -32000, data: { scope: "principal", limit: 1 } };
    expect(await refusedTo(alice)).toMatchObject({ status: 409, body: { id: "first", error: own } });
    harness.get({ session: await harness.open({ caller: bob }), caller: bob });
    expect(await refusedTo(anonymous)).toMatchObject({
      status: 409,
      body: { error: { data: { scope: "global", limit: 2 } } },
    });
    expect(harness.delete({ session, caller: alice }).plain.status).toBe(200);
    expect(harness.setting.admission.counts.sessions).toBe(1);
    expect(harness.post({ id: 1, method: "ping" }, { session, caller: alice }).plain.status).toBe(404);
    expect(await harness.open({ caller: alice })).not.toBe(session);
  });

  it.each([
    [undefined, 200],
    ["2025-11-25", 200],
    ["2025-03-26", 200],
    ["2024-01-01", 400],
  ])("take the version %s in a header with %d", async (version, status) => {
    const { harness } = open();
    const session = await harness.open();
    const headers: Record<string, string> = version === undefined ? {} : { "mcp-protocol-version": version };
    expect(harness.post({ id: 1, method: "ping" }, { session, headers }).plain.status).toBe(status);
  });

  it("are replaced by a new one of the same caller, the longest idle first", async () => {
    const { harness } = open({ maxSessions: 8, maxSessionsPerPrincipal: 3 });
    const ping = (session: string, caller = alice): number =>
      harness.post({ id: 1, method: "ping" }, { session, caller }).plain.status;
    const bobs = await harness.open({ caller: bob });
    const [oldest, used, listening] = [
      await harness.open({ caller: alice }),
      await harness.open({ caller: alice }),
      await harness.open({ caller: alice }),
    ];
    harness.get({ session: listening, caller: alice });
    await harness.clock.pass(1000);
    expect(ping(oldest)).toBe(200);
    await harness.clock.pass(1000);
    expect(ping(used)).toBe(200);
    await harness.clock.pass(9000);
    const newest = await harness.open({ caller: alice });
    expect([oldest, used, listening, newest].map((session) => ping(session))).toEqual([404, 200, 200, 200]);
    expect(ping(bobs, bob)).toBe(200);
    expect(harness.setting.admission.counts.sessions).toBe(4);
  });

  it("are replaced by any caller's when the server is full", async () => {
    const { harness } = open({ maxSessions: 2, maxSessionsPerPrincipal: 2 });
    const alices = await harness.open({ caller: alice });
    const bobs = await harness.open({ caller: bob });
    await harness.clock.pass(10_000);
    const last = await harness.open();
    expect(harness.post({ id: 1, method: "ping" }, { session: alices, caller: alice }).plain.status).toBe(404);
    expect(harness.post({ id: 1, method: "ping" }, { session: bobs, caller: bob }).plain.status).toBe(200);
    expect(harness.post({ id: 1, method: "ping" }, { session: last }).plain.status).toBe(200);
  });

  it("are not replaced within ten seconds of their last request", async () => {
    const { harness } = open({ maxSessions: 1 });
    const session = await harness.open();
    await harness.clock.pass(9000);
    const ping = () => harness.post({ id: 1, method: "ping" }, { session }).plain.status;
    expect(ping()).toBe(200);
    await harness.clock.pass(9999);
    const refused = harness.post(handshakeOf("2025-11-25"));
    await harness.until(() => refused.isOver);
    expect([refused.plain.status, ping()]).toEqual([409, 200]);
  });

  it("are replaced at once after their client closed its stream, unless a request came since", async () => {
    const { harness } = open({ maxSessions: 2 });
    const [left, back] = [await harness.open(), await harness.open()];
    for (const session of [left, back]) harness.get({ session }).cut();
    const ping = (session: string) => harness.post({ id: 1, method: "ping" }, { session }).plain.status;
    expect(ping(back)).toBe(200);
    await harness.open();
    expect([left, back].map(ping)).toEqual([404, 200]);
    const refused = harness.post(handshakeOf("2025-11-25"));
    await harness.until(() => refused.isOver);
    expect(refused.plain.status).toBe(409);
  });

  it("do not give way to a handshake that is not valid", async () => {
    const { harness } = open({ maxSessions: 1 });
    const session = await harness.open();
    await harness.clock.pass(10_000);
    const failed = harness.post({ id: 1, method: "initialize", params: { protocolVersion: 5 } });
    await harness.until(() => failed.isOver);
    expect(failed.plain.body).toMatchObject({ error: { code: -32602 } });
    expect(harness.post({ id: 2, method: "ping" }, { session }).plain.status).toBe(200);
  });

  it("are not replaced while a request runs, also a cancelled one", async () => {
    const all = open({ maxSessions: 1 });
    const { session } = await walkIn(all, 1);
    const refused = all.harness.post(handshakeOf("2025-11-25"));
    await all.harness.until(() => refused.isOver);
    expect(refused.plain).toMatchObject({ status: 409 });
    expect(all.harness.post({ id: 9, method: "ping" }, { session }).plain.status).toBe(200);
  });

  it("abort running requests and end their answers when they are deleted", async () => {
    const all = open();
    const { session, reply } = await walkIn(all, 1);
    const plain = all.harness.post(callOf(2, "walk"), { session });
    await all.harness.until(() => all.steps.waiting === 2);
    const listening = all.harness.get({ session });
    all.harness.delete({ session });
    expect(listening.sink?.state).toBe("ended");
    expect(reply.sink?.state).toBe("ended");
    expect(plain.plain.status).toBe(404);
    await all.harness.until(() => all.steps.counts.aborted === 2);
    expect(all.harness.setting.admission.counts).toEqual({ sessions: 0, streams: 0 });
    expect(all.harness.clock.size).toBe(1);
  });

  it("end when they are idle, but not while a client listens or a request runs", async () => {
    const all = open({ sessionIdleMs: 1000, keepAliveMs: 0 });
    const { harness } = all;
    const [idle, listening, running] = [await harness.open(), await harness.open(), await harness.open()];
    const stream = harness.get({ session: listening });
    const reply = harness.post(callOf(1, "walk"), { session: running });
    await harness.clock.pass(999);
    expect(harness.setting.admission.counts.sessions).toBe(3);
    await harness.clock.pass(5000);
    expect(harness.post({ id: 1, method: "ping" }, { session: idle }).plain.status).toBe(404);
    expect(harness.setting.admission.counts.sessions).toBe(2);
    stream.cut();
    all.steps.arrive();
    await harness.until(() => reply.isOver);
    await harness.clock.pass(900);
    expect(harness.post({ id: 1, method: "ping" }, { session: running }).plain.status).toBe(200);
    await harness.clock.pass(200);
    expect(harness.post({ id: 1, method: "ping" }, { session: listening }).plain.status).toBe(404);
    expect(harness.setting.admission.counts.sessions).toBe(1);
    await harness.clock.pass(2000);
    expect(harness.setting.admission.counts.sessions).toBe(0);
  });

  it("stay for ever when no time is set", async () => {
    const { harness } = open({ sessionIdleMs: 0 });
    const session = await harness.open();
    await harness.clock.pass(1e9);
    expect(harness.post({ id: 1, method: "ping" }, { session }).plain.status).toBe(200);
  });
});

describe("SessionHandler's calls", () => {
  it("end without an answer when their client cancels them", async () => {
    const all = open();
    const { session, reply } = await walkIn(all, 1);
    const plain = all.harness.post(callOf(2, "walk"), { session });
    await all.harness.until(() => all.steps.waiting === 2);
    for (const requestId of [1, 2]) {
      const told = all.harness.post({ method: "notifications/cancelled", params: { requestId } }, { session });
      expect(told.plain.status).toBe(202);
    }
    await all.harness.until(() => all.steps.counts.aborted === 2);
    expect(reply.sink?.state).toBe("ended");
    expect(stepsOf(reply.messages)).toEqual([1]);
    expect(plain.given).toMatchObject({ status: 202 });
    expect(plain.given?.body).toBeUndefined();
  });

  it("are not cancelled from another session", async () => {
    const all = open();
    const { harness } = all;
    await walkIn(all, 1);
    harness.post({ method: "notifications/cancelled", params: { requestId: 1 } }, { session: await harness.open() });
    expect(all.steps.counts.aborted).toBe(0);
  });

  it("continue when the connection drops, and a client that resumes gets their result", async () => {
    const all = open();
    const { harness } = all;
    const { session, reply } = await walkIn(all, 1);
    const lastId = reply.events.at(-1)?.id;
    reply.cut();
    await takeStep(all);
    all.steps.arrive();
    await harness.until(() => all.steps.counts.arrived === 1);
    await harness.until(() => harness.get({ session }, lastId).messages.length === 2);
    const resumed = harness.get({ session }, lastId);
    expect(resumed.sink?.state).toBe("ended");
    expect(stepsOf(resumed.messages)).toEqual([2, "result"]);
    expect(all.steps.counts.aborted).toBe(0);
  });

  it("continue live for a client that resumes before their end", async () => {
    const all = open();
    const { harness } = all;
    const { session, reply } = await walkIn(all, 2);
    const firstId = reply.events[0]?.id;
    reply.cut();
    const resumed = harness.get({ session }, firstId);
    expect(stepsOf(resumed.messages)).toEqual([1, 2]);
    await takeStep(all);
    all.steps.arrive();
    await harness.until(() => resumed.sink?.state === "ended");
    expect(stepsOf(resumed.messages)).toEqual([1, 2, 3, "result"]);
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.get({ session }, resumed.events.at(-1)?.id).given?.status).toBe(204);
  });

  it("are aborted when the connection drops if their tool is abortable", async () => {
    const all = open();
    const { harness } = all;
    const session = await harness.open();
    const replies = [callOf(1, "stroll"), callOf(2, "stroll", { token: 1 }), callOf(3, "walk")].map((message) =>
      harness.post(message, { session }),
    );
    await harness.until(() => all.steps.waiting === 3);
    all.steps.step();
    await harness.until(() => all.steps.waiting === 3);
    for (const reply of replies) reply.cut();
    await harness.until(() => all.steps.counts.aborted > 0);
    all.steps.arrive();
    await harness.until(() => all.steps.counts.arrived > 0);
    expect(all.steps.counts).toEqual({ aborted: 2, arrived: 1 });
  });
});
