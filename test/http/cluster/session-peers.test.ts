import { afterEach, describe, expect, it } from "vitest";
import type { Cluster } from "../../../src/cluster/cluster.ts";
import { type SessionCopy, SessionPeers } from "../../../src/http/sessions/session-peers.ts";
import { newRecord, readRecord, sessionKeyOf, type SharedState } from "../../../src/http/sessions/session-record.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { StageCounters } from "../../../src/http/admission.ts";
import { SessionHandler } from "../../../src/http/sessions/session-handler.ts";
import { parseFrame } from "../../../src/mcp/parse-frame.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { openSteps } from "../sessions/app.ts";
import { FakeReply, handshakeOf } from "../sessions/session-harness.ts";
import { createHttpSetting } from "../support/http-setting.ts";
import { memoryHub, type MemoryHub } from "../../cluster/memory-hub.ts";
import { ask, callOf, end, get, initialize, openReplicas, post, until, withStore, type Replicas } from "./replicas.ts";

const key = "session:test";
const record = newRecord({
  kinds: ["elicit"],
  extensions: new Set(),
  version: "2025-11-25",
  view: { surface: "default", userAgent: "a/1" },
});

class Copy implements SessionCopy {
  readonly asked = ["ask 1"];
  state: SharedState = record;
  hasEnded = false;
  readonly received: unknown[] = [];

  refreshed(state: SharedState): void {
    this.state = state;
  }

  ended(): void {
    this.hasEnded = true;
  }

  answered(...answer: unknown[]): void {
    this.received.push(answer);
  }

  told(...message: unknown[]): void {
    this.received.push(message);
  }
}

function openCluster(hub: MemoryHub): Cluster {
  const cluster = hub.join();
  void cluster.open({ app: "steps", report: () => {} }).ready;
  return cluster;
}

function peersOf(cluster: Cluster): { peers: SessionPeers; copy: Copy; failures: unknown[] } {
  const failures: unknown[] = [];
  const copy = new Copy();
  const failed = (cause: unknown): void => void failures.push(cause);
  const lost = (one: SessionPeers): void => void one.catchUp();
  const peers = new SessionPeers({ cluster, key, ttlMs: 60_000, failed, lost });
  peers.join(copy);
  return { peers, copy, failures };
}

const withUri =
  (uri: string) =>
  (state: SharedState): SharedState => ({ ...state, uris: [...new Set([...state.uris, uri])] });

describe("The copies of a session", () => {
  it("lose no change when three of them make a hundred each at once", async () => {
    const hub = memoryHub();
    const all = [0, 1, 2].map(() => peersOf(openCluster(hub)));
    await all[0]?.peers.create(record);
    for (let at = 0; at < 100; at += 1) {
      for (const [index, { peers }] of all.entries()) peers.change(`uri ${at} ${index}`, withUri(`${at} ${index}`));
      if (at % 10 === 0) await Promise.resolve();
    }
    await until(() => all.every(({ copy }) => copy.state.uris.length === 300));
    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    const text = await openCluster(hub).store.get(key);
    expect(readRecord(text ?? "")?.uris.length).toBe(300);
  });

  it("save a change without a look at the record, unless another replica was faster", async () => {
    const hub = memoryHub();
    let looks = 0;
    const count = async (): Promise<void> => void (looks += 1);
    const one = peersOf(withStore(openCluster(hub), count, "get"));
    const other = peersOf(openCluster(hub));
    await one.peers.create(record);
    await other.peers.load();
    for (let at = 0; at < 10; at += 1) {
      one.peers.change("uri", withUri(String(at)));
      await one.peers.sync();
    }
    expect(looks).toBe(0);
    // It would be no change of what was last known here.
    other.peers.change("uri", (state) => ({ ...state, uris: [] }));
    one.peers.change("uri", withUri("9"));
    await Promise.all([one.peers.sync(), other.peers.sync()]);
    await until(() => [one, other].every(({ copy }) => copy.state.uris.length < 2));
    await one.peers.sync();
    expect(one.copy.state).toEqual(other.copy.state);
  });

  it("take an answer also when the store goes away before it is deleted there", async () => {
    const hub = memoryHub();
    const fail = (): Promise<void> => Promise.reject(new Error("away"));
    const [one, other] = [peersOf(withStore(openCluster(hub), fail, "delete")), peersOf(openCluster(hub))];
    await one.peers.create(record);
    const id = `ask ${crypto.randomUUID()}`;
    one.copy.asked.push(id);
    await other.peers.answer({ kind: "response", id, result: {}, error: undefined }, anonymous);
    await until(() => one.failures.length === 1);
    expect(one.copy.received).toHaveLength(1);
  });

  it("keep the record for as long as one of them renews it", async () => {
    let now = 0;
    const hub = memoryHub(() => now);
    const { peers } = peersOf(openCluster(hub));
    await peers.create(record);
    now = 50_000;
    await peers.renew();
    now = 100_000;
    expect(await openCluster(hub).store.get(key)).toBe(JSON.stringify(record));
    now = 120_000;
    expect(await openCluster(hub).store.get(key)).toBeUndefined();
  });

  it("keep changes of the time without a store, and save the last of each name", async () => {
    const hub = memoryHub();
    const [one, other] = [peersOf(openCluster(hub)), peersOf(openCluster(hub))];
    await one.peers.create(record);
    hub.setAvailable(false);
    one.peers.change("uri a", withUri("a"));
    one.peers.change("level", (state) => ({ ...state, level: "debug" }));
    one.peers.change("level", (state) => ({ ...state, level: "error" }));
    await until(() => one.failures.length > 0);
    hub.setAvailable(true);
    await until(() => other.copy.state.uris.length === 1);
    expect(other.copy.state).toMatchObject({ uris: ["a"], level: "error" });
  });

  it("save the rights of a time without a store, however many other changes there were", async () => {
    const hub = memoryHub();
    const [one, other] = [peersOf(openCluster(hub)), peersOf(openCluster(hub))];
    await one.peers.create(record);
    hub.setAvailable(false);
    one.peers.change("rights", (state) => ({ ...state, scopes: ["steps:write"] }));
    for (let at = 0; at < 5000; at += 1) one.peers.change(`uri ${at}`, (state) => state);
    await until(() => one.failures.length > 0);
    hub.setAvailable(true);
    await until(() => other.copy.state.scopes.length > 0);
    expect(other.copy.state.scopes).toEqual(["steps:write"]);
  });

  it("leave a bounded number of answers in the store that no replica takes", async () => {
    const cluster = openCluster(memoryHub());
    const { peers } = peersOf(cluster);
    await peers.create(record);
    const answer = async (): Promise<void> => {
      const id = `ask ${crypto.randomUUID()}`;
      await peers.answer({ kind: "response", id, result: { note: "x".repeat(1000) }, error: undefined }, anonymous);
    };
    const all = await Promise.allSettled(Array.from({ length: 200 }, answer));
    expect(all.filter(({ status }) => status === "fulfilled").length).toBe(64);
  });

  it("take any number of answers, one after the other", async () => {
    const hub = memoryHub();
    const [one, other] = [peersOf(openCluster(hub)), peersOf(openCluster(hub))];
    await one.peers.create(record);
    for (let at = 1; at <= 100; at += 1) {
      const id = `ask ${crypto.randomUUID()}`;
      one.copy.asked.push(id);
      await other.peers.answer({ kind: "response", id, result: {}, error: undefined }, anonymous);
      await until(() => one.copy.received.length === at);
    }
    expect(one.failures).toEqual([]);
  });

  it.each([
    "",
    "garbage",
    "[]",
    "null",
    "{}",
    '["answer"]',
    '["answer",1]',
    '["ended!"]',
    "[[[[",
    `["x","${"y".repeat(9_000)}"]`,
  ])("outlive the message %j of another program", async (text) => {
    const hub = memoryHub();
    const { copy, failures, peers } = peersOf(openCluster(hub));
    await peers.create(record);
    openCluster(hub).bus.publish(key, text);
    await peers.sync();
    expect([copy.hasEnded, failures]).toEqual([false, []]);
  });

  it.each(["", "garbage", "null", "[]", "{}", '{"scopes":1}', '{"result":{}}'])(
    "take no answer from the value %j of another program",
    async (text) => {
      const hub = memoryHub();
      const { copy, peers } = peersOf(openCluster(hub));
      await peers.create(record);
      const other = openCluster(hub);
      await other.store.set(`answer:${key}:ask 1`, text, 10_000);
      other.bus.publish(key, '["answer","ask 1"]');
      await until(async () => (await other.store.get(`answer:${key}:ask 1`)) === undefined);
      await peers.sync();
      expect(copy.received).toEqual([]);
    },
  );
});

describe("A record", () => {
  it("is read as it was written", () => {
    expect(readRecord(JSON.stringify(record))).toEqual(record);
  });

  it("keeps the extensions of the client", () => {
    const extensions = new Set(["io.modelcontextprotocol/ui"] as const);
    const made = newRecord({ kinds: [], extensions, version: "2025-11-25", view: undefined });
    expect(readRecord(JSON.stringify(made))).toHaveProperty("extensions", [...extensions]);
  });

  it.each<[string, unknown]>([
    ["a member of a later format", { ...record, format: 2 }],
    ["a protocol version that is none", { ...record, version: "2026-07-28" }],
    ["an unknown member", { ...record, admin: true }],
    ["URIs that are no texts", { ...record, uris: [1] }],
    ["scopes that are no list", { ...record, scopes: "all" }],
    ["an unknown extension", { ...record, extensions: ["com.example/x"] }],
    ["a tag of another form", { ...record, tag: "" }],
    ["a view without a name", { ...record, view: {} }],
    ["no state", { format: 1 }],
    ["nothing", null],
  ])("is none with %s", (_what, value) => {
    expect(readRecord(JSON.stringify(value))).toBeUndefined();
  });
});

describe("A fault behind a wait for the store", () => {
  it("is reported and answered, and leaves no rejection", async () => {
    const { runtime } = openSteps();
    const clock = new ManualClock();
    const setting = createHttpSetting({ runtime, clock, counters: new StageCounters(), more: {} });
    const handler = new SessionHandler(setting, openCluster(memoryHub()));
    const all: Record<string, string> = { accept: "application/json, text/event-stream" };
    const request = { method: "GET", target: "/mcp", header: (name: string) => all[name], count: () => 1, body() {} };
    const opening = new FakeReply();
    const frame = parseFrame(JSON.stringify({ jsonrpc: "2.0", ...handshakeOf("2025-11-25") }), runtime.limits);
    if (frame.kind !== "request") throw new Error("it is no request");
    handler.request({ request, reply: opening, caller: anonymous }, frame);
    await until(() => opening.given !== undefined);
    all["mcp-session-id"] = opening.headers["mcp-session-id"] ?? "";
    const reply = new FakeReply();
    reply.stream = () => {
      throw new Error("broken");
    };
    handler.get({ request, reply, caller: anonymous });
    await until(() => reply.given !== undefined);
    expect(reply.plain).toMatchObject({ status: 500, body: { error: { code: -32603 } } });
    await handler.close();
    await runtime.close();
  });
});

describe("A replica", () => {
  let opened: Replicas | undefined;
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  it("serves no session from what another program has written, and goes on", async () => {
    opened = await openReplicas();
    const [a, b] = opened.all;
    if (a === undefined || b === undefined) throw new Error("too few");
    const vandal = openCluster(opened.hub);
    const session = await initialize(a);
    const walking = await post(a, callOf("w", "walk"), { session });
    await until(() => a.walks.waiting === 1);
    a.walks.go();
    await until(() => walking.messages.length === 1);
    const lastId = walking.events[0]?.id;
    const log = `log:${sessionKeyOf(anonymous, session)}:${lastId?.split(".").slice(0, 2).join(".")}`;
    for (const [number, text] of ["", "garbage", "m\n", "mnull\n{}", 'e{"replica":1}'].entries()) {
      await vandal.log.append(log, { number: number + 3, text }, { maxEntries: 100, ttlMs: 10_000 });
    }
    const resumed = await get(b, { session, lastId });
    await resumed.over();
    for (const value of ["", "garbage", "{}", '{"format":2}']) {
      await vandal.store.set(sessionKeyOf(anonymous, session), value, 10_000);
      expect((await ask(b, { id: 1, method: "ping" }, { session: crypto.randomUUID() })).status).toBe(404);
    }
    expect((await end(b, { session })).status).toBe(200);
    expect((await ask(a, { id: 1, method: "ping" }, { session })).status).toBe(404);
    const next = await initialize(b);
    expect((await ask(a, { id: 1, method: "ping" }, { session: next })).status).toBe(200);
  });

  it.each([
    ["renews", 8000],
    ["looks at after a gap", 60_000],
  ])("%s its sessions a few at a time", async (what, sessionIdleMs) => {
    let [looking, most, looks] = [0, 0, 0];
    const look = async (): Promise<void> => {
      looks += 1;
      looking += 1;
      most = Math.max(most, looking);
      await new Promise((resolve) => setTimeout(resolve, 5));
      looking -= 1;
    };
    opened = await openReplicas({ sessionIdleMs, wrap: (cluster) => withStore(cluster, look, "get") });
    const [a] = opened.all;
    if (a === undefined) throw new Error("too few");
    for (let opening = 0; opening < 100; opening += 1) {
      // A reader keeps each of them from being idle, at once: a busy machine needs seconds for all.
      const reading = await get(a, { session: await initialize(a) });
      expect(reading.status).toBe(200);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    await until(() => looking === 0);
    [most, looks] = [0, 0];
    if (what !== "renews") {
      opened.hub.setAvailable(false);
      opened.hub.setAvailable(true);
    }
    await until(() => looks >= 100);
    // And a few looks that are of no session.
    expect(most).toBeLessThanOrEqual(16 + 4);
  });

  it("looks into a log now and then while it can end it for no killed replica", async () => {
    let reads = 0;
    let isFull = false;
    const wrap = (cluster: Cluster): Cluster => {
      const full = withStore(cluster, () => (isFull ? Promise.reject(new Error("full")) : Promise.resolve()), "swap");
      const log: Cluster["log"] = {
        append: (name, entry, bounds) => cluster.log.append(name, entry, bounds),
        read(name, after) {
          reads += 1;
          return cluster.log.read(name, after);
        },
      };
      return Object.defineProperty(full, "log", { value: log });
    };
    opened = await openReplicas({ wrap });
    const [a, b] = opened.all;
    if (a === undefined || b === undefined) throw new Error("too few");
    const session = await initialize(a);
    const walking = await post(a, callOf("w", "walk"), { session });
    await until(() => a.walks.waiting === 1);
    a.walks.go();
    await until(() => walking.messages.length === 1);
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    await until(() => resumed.messages.length === 1);
    isFull = true;
    await ask(b, { id: "l", method: "logging/setLevel", params: { level: "error" } }, { session });
    opened.hub.kill(a.id);
    const before = reads;
    await until(() => reads > before);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(reads - before).toBeLessThan(5);
    isFull = false;
    await until(() => resumed.text.includes("OUTCOME_UNKNOWN"));
  });

  it("appends nothing to a log before the rights are saved that its readers need", async () => {
    let save: () => void = () => {};
    const gate = new Promise<void>((resolve) => (save = resolve));
    let isGated = false;
    opened = await openReplicas({
      isKnown: true,
      wrap: (cluster) => withStore(cluster, async () => (isGated ? gate : undefined), "swap"),
    });
    const [a, b] = opened.all;
    if (a === undefined || b === undefined) throw new Error("too few");
    const session = await initialize(a, "ada-reads");
    isGated = true;
    const walking = await post(a, callOf("w", "walk"), { session, token: "ada" });
    await until(() => a.walks.waiting === 1);
    a.walks.go();
    await until(() => walking.messages.length === 1);
    const lastId = walking.events[0]?.id;
    const resumed = await get(b, { session, token: "ada-reads", lastId });
    await resumed.over();
    expect(resumed.text).not.toContain("progress");
    save();
    await until(async () => (await get(b, { session, token: "ada-reads", lastId })).status === 403);
    a.walks.go(true);
    const allowed = await get(b, { session, token: "ada", lastId });
    await allowed.over();
    expect(allowed.methods).toEqual(["notifications/progress", "result"]);
  });
});
