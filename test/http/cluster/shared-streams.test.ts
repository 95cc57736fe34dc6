import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ask,
  callOf,
  get,
  initialize,
  closeThree,
  openThree,
  post,
  until,
  type Reading,
  type Replica,
} from "./replicas.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";

afterEach(closeThree);

const uri = "app://state";
const updated = "notifications/resources/updated";
const listChanged = "notifications/resources/list_changed";
const subscribe = { id: "s", method: "resources/subscribe", params: { uri } };
const unsubscribe = { id: "u", method: "resources/unsubscribe", params: { uri } };

/** Time in which nothing comes that should not. */
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));

/** Begins a call on a replica, and lets it report once. */
async function walk(replica: Replica, session: string, token?: string): Promise<Reading> {
  const walking = await post(replica, callOf("w", "walk"), { session, token });
  await until(() => replica.walks.waiting === 1);
  replica.walks.go();
  await until(() => walking.messages.length === 1 && replica.walks.waiting === 1);
  return walking;
}

const progressOf = ({ messages }: Reading): readonly unknown[] =>
  messages.map(({ params, result }) => (params === undefined ? result : (params as { progress: unknown }).progress));

describe("The notices of a session", () => {
  it("announce what was subscribed to on another replica, before the stream and after", async () => {
    const { a, b, c, change } = await openThree();
    const session = await initialize(a);
    const notices = await get(a, { session });
    expect((await ask(b, subscribe, { session })).json["result"]).toEqual({});
    await until(() => notices.methods.includes(updated));
    await quiet();
    const before = notices.messages.length;
    change();
    await until(() => notices.messages.length > before);
    expect((await ask(c, unsubscribe, { session })).json["result"]).toEqual({});
    await quiet();
    const after = notices.messages.length;
    change();
    await quiet();
    expect(notices.messages.length).toBe(after);
  });

  it("are read on one replica, the newest, and announce everything once when they come to it", async () => {
    const { a, b, change } = await openThree();
    const session = await initialize(a);
    await ask(a, subscribe, { session });
    const first = await get(a, { session });
    change();
    await until(() => first.methods.length === 1);
    const second = await get(b, { session });
    await first.over();
    await until(() => second.methods.length > 1);
    await quiet();
    expect(second.methods.toSorted()).toEqual([listChanged, updated]);
    change();
    await until(() => second.methods.length === 3);
    // With the id of an event of the other replica.
    const third = await get(a, { session, lastId: second.lastId });
    await second.over();
    expect(third.status).toBe(200);
    await until(() => third.methods.length > 1);
    await quiet();
    expect(third.methods.toSorted()).toEqual([listChanged, updated]);
  });

  it("are read on one replica when the bus loses that another has them, after the gap", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const first = await get(a, { session });
    hub.drop(() => true);
    const second = await get(b, { session });
    await quiet();
    expect(first.isOver).toBe(false);
    hub.drop(() => false);
    hub.beat();
    await first.over();
    expect(second.isOver).toBe(false);
  });

  it("go on at another replica when theirs was killed", async () => {
    const { a, b, change, hub } = await openThree();
    const session = await initialize(a);
    await ask(a, subscribe, { session });
    const first = await get(a, { session });
    change();
    await until(() => first.methods.length === 1);
    hub.kill(a.id);
    first.cut();
    const second = await get(b, { session, lastId: first.lastId });
    await until(() => second.methods.length > 1);
    change();
    await until(() => second.methods.length > 2);
    expect(second.methods.toSorted()).toEqual([listChanged, updated, updated]);
  });
});

describe("The stream of a request", () => {
  it("is resumed at another replica, where it is followed to its end", async () => {
    const { a, b, hub } = await openThree();
    const texts: string[] = [];
    hub.drop(({ text }) => texts.push(text) === 0);
    const session = await initialize(a);
    const walking = await walk(a, session);
    a.walks.go();
    await until(() => walking.messages.length === 2 && a.walks.waiting === 1);
    // As of its first event.
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    walking.cut();
    await until(() => resumed.messages.length === 2);
    a.walks.go();
    await until(() => resumed.messages.length === 3 && a.walks.waiting === 1);
    a.walks.go(true);
    await resumed.over();
    // At once, and not by looking.
    expect(texts.some((text) => text.startsWith('["grew"'))).toBe(true);
    expect(progressOf(resumed).slice(0, 3)).toEqual([1, 2, 3]);
    expect(resumed.messages[3]).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
    expect(resumed.messages.length).toBe(4);
    // The client has everything.
    expect((await get(b, { session, lastId: resumed.lastId })).status).toBe(204);
    // And may read it again, with the same ids.
    const again = await get(b, { session, lastId: walking.events[0]?.id });
    await again.over();
    expect(again.events.map(({ id }) => id)).toEqual(resumed.events.map(({ id }) => id));
  });

  it("is resumed where it began when the client comes back by way of another replica", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    walking.cut();
    const resumed = await get(b, { session, lastId: walking.lastId });
    a.walks.go();
    await until(() => resumed.messages.length === 1 && a.walks.waiting === 1);
    resumed.cut();
    const back = await get(a, { session, lastId: resumed.lastId });
    a.walks.go(true);
    await back.over();
    expect(back.messages.map(({ id }) => id)).toEqual(["w"]);
  });

  it("ends with an unknown outcome, once, when the replica of its call was killed", async () => {
    const { a, b, c, hub } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    walking.cut();
    hub.kill(a.id);
    // Two connections of the client, as after a retry that came late.
    const all = await Promise.all([b, c].map((replica) => get(replica, { session, lastId: walking.events[0]?.id })));
    for (const resumed of all) {
      await resumed.over();
      expect(progressOf(resumed)[0]).toBe(1);
      expect(resumed.messages.length).toBe(2);
      expect(resumed.messages[1]).toMatchObject({ id: "w", result: { isError: true } });
      expect(JSON.stringify(resumed.messages[1])).toContain("OUTCOME_UNKNOWN");
    }
    expect(all[0]?.lastId).toBe(all[1]?.lastId);
    expect((await get(c, { session, lastId: all[0]?.lastId })).status).toBe(204);
  });

  it("has no second answer of a replica that comes back after another has answered for it", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    hub.cut(a.id);
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    await resumed.over();
    expect(resumed.text).toContain("OUTCOME_UNKNOWN");
    hub.heal(a.id);
    a.walks.go();
    await walking.over();
    expect(progressOf(walking)).toEqual([1]);
    await until(() => a.walks.waiting === 1);
    a.walks.go(true);
    await quiet();
    for (const replica of [a, b]) {
      const again = await get(replica, { session, lastId: walking.events[0]?.id });
      await again.over();
      expect(again.events).toEqual(resumed.events);
    }
  });

  it("goes on when its replica comes back, and no other has answered for it", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    hub.cut(a.id);
    hub.heal(a.id);
    a.walks.go();
    await until(() => walking.messages.length === 2 && a.walks.waiting === 1);
    hub.cut(a.id);
    hub.heal(a.id);
    a.walks.go(true);
    await walking.over();
    expect(progressOf(walking).slice(0, 2)).toEqual([1, 2]);
    expect(walking.messages[2]).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
    const again = await get(b, { session, lastId: walking.events[0]?.id });
    await again.over();
    expect(again.messages).toEqual(walking.messages);
  });

  it("ends with an unknown outcome when its replica has closed and aborted the call", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    await a.serving.close();
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    await resumed.over();
    expect(JSON.stringify(resumed.messages.at(-1))).toContain("OUTCOME_UNKNOWN");
    expect(a.walks.aborted).toBe(1);
  });

  it("ends with the answer when that was given before the replica was killed", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    walking.cut();
    a.walks.go(true);
    await until(() => a.walks.waiting === 0);
    await quiet();
    hub.kill(a.id);
    const resumed = await get(b, { session, lastId: walking.lastId });
    await resumed.over();
    expect(resumed.messages).toMatchObject([{ id: "w", result: { structuredContent: { done: true } } }]);
  });

  it("ends without a message at another replica when its call was cancelled", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    walking.cut();
    const resumed = await get(b, { session, lastId: walking.lastId });
    await ask(b, { method: "notifications/cancelled", params: { requestId: "w" } }, { session });
    await resumed.over();
    expect(resumed.messages).toEqual([]);
  });

  it("is resumed at another replica as fast as its client reads when its events are large", async () => {
    const { a, b } = await openThree();
    a.walks.message = "x".repeat(20_000);
    const session = await initialize(a);
    const walking = await walk(a, session);
    for (let count = 2; count <= 60; count++) {
      a.walks.go();
      await until(() => walking.messages.length === count && a.walks.waiting === 1);
    }
    a.walks.go(true);
    await walking.over();
    // The time of the next look into the log never comes.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    atEndOfTest(() => vi.useRealTimers());
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    while (!resumed.isOver) await new Promise((resolve) => setImmediate(resolve));
    expect(resumed.events.map(({ id }) => id)).toEqual(walking.events.slice(1).map(({ id }) => id));
  });

  it("is followed without the bus, by looking", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    const resumed = await get(b, { session, lastId: walking.lastId });
    hub.drop(() => true);
    a.walks.go(true);
    await resumed.over();
    expect(resumed.messages.map(({ id }) => id)).toEqual(["w"]);
  });

  it("announces that messages are missing when its log has dropped them", async () => {
    const { a, b } = await openThree({ maxQueued: 4 });
    const session = await initialize(a);
    const walking = await walk(a, session);
    for (let steps = 2; steps <= 12; steps += 1) {
      a.walks.go();
      await until(() => walking.messages.length === steps && a.walks.waiting === 1);
    }
    walking.cut();
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    a.walks.go(true);
    await resumed.over();
    const [missed, ...rest] = resumed.messages;
    expect(missed?.["method"]).toBe(listChanged);
    expect(rest.at(-1)).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
    expect(rest.length).toBeLessThan(12);
  });

  it("is not read by the id of an event of another session, whoever it belongs to", async () => {
    const { a, b } = await openThree({ isKnown: true });
    const [own, other, bobs] = [await initialize(a, "ada"), await initialize(a, "ada"), await initialize(a, "bob")];
    const walking = await walk(a, own, "ada");
    for (const replica of [a, b]) {
      expect((await get(replica, { session: other, token: "ada", lastId: walking.lastId })).status).toBe(400);
      expect((await get(replica, { session: bobs, token: "bob", lastId: walking.lastId })).status).toBe(400);
      expect((await get(replica, { session: own, token: "bob", lastId: walking.lastId })).status).toBe(404);
    }
  });

  it.each([
    ["", false],
    [", also when the bus loses that", true],
  ])(
    "is not read at another replica by a token with fewer rights than its session has used%s",
    async (_also, isLost) => {
      const { a, b, c, hub } = await openThree({ isKnown: true });
      const session = await initialize(a, "ada-reads");
      // This replica knows the session before it has used the rights.
      await ask(b, { id: "p", method: "ping" }, { session, token: "ada-reads" });
      hub.drop(() => isLost);
      const walking = await walk(a, session, "ada");
      for (const replica of [a, b, c]) {
        expect((await get(replica, { session, token: "ada-reads", lastId: walking.lastId })).status).toBe(403);
        expect((await get(replica, { session, token: "ada-reads" })).status).toBe(403);
      }
      a.walks.go(true);
      const resumed = await get(c, { session, token: "ada", lastId: walking.lastId });
      await resumed.over();
      expect(resumed.messages.map(({ id }) => id)).toEqual(["w"]);
    },
  );

  it("is no log that a client can end by an id of an event that never was", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    const walking = await walk(a, session);
    const forged = (walking.lastId ?? "").replace(/[0-9]+$/, "999999");
    const resumed = await get(b, { session, lastId: forged });
    await resumed.over();
    expect(resumed.methods).toEqual([listChanged]);
    a.walks.go(true);
    await walking.over();
    expect(walking.messages.at(-1)).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
    const real = await get(b, { session, lastId: walking.events[0]?.id });
    await real.over();
    expect(real.messages.at(-1)).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
  });
});
