import { afterEach, describe, expect, it } from "vitest";
import { ask, callOf, end, get, initialize, closeThree, openThree, post, until } from "./replicas.ts";

afterEach(closeThree);

const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const handshake = { id: 0, method: "initialize", params };
const ping = { id: "p", method: "ping" };

describe("The number of sessions", () => {
  it("is bounded over all replicas, also when all open at once", async () => {
    const { all, a, b } = await openThree({ maxSessions: 5 });
    const readings = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(all[at % 3] ?? a, handshake)));
    const ids = readings.flatMap(({ status, headers }) =>
      status === 200 ? [headers.get("mcp-session-id") ?? ""] : [],
    );
    expect(ids.length).toBe(5);
    expect(new Set(readings.map(({ status }) => status))).toEqual(new Set([200, 409]));
    // An end frees the place at once.
    await end(b, { session: ids[0] });
    expect((await ask(a, handshake)).status).toBe(200);
    expect((await ask(b, handshake)).status).toBe(409);
  });

  it("is bounded for each caller over all replicas", async () => {
    const { a, b } = await openThree({ isKnown: true, maxSessions: 100, maxSessionsPerPrincipal: 2 });
    await initialize(a, "ada");
    await initialize(b, "ada");
    const refused = await ask(b, handshake, { token: "ada" });
    expect([refused.status, refused.json]).toMatchObject([409, { error: { data: { scope: "principal", limit: 2 } } }]);
    await initialize(b, "bob");
  });

  it("is free again some time after the replica of the sessions was killed", async () => {
    const { a, b, hub } = await openThree({ maxSessions: 2, sessionIdleMs: 300 });
    await initialize(a);
    await initialize(a);
    hub.kill(a.id);
    expect((await ask(b, handshake)).status).toBe(409);
    await until(async () => (await ask(b, handshake)).status === 200);
  });

  it("makes room by ending one whose client has left, unless another replica has served it too", async () => {
    const { a, b } = await openThree({ maxSessions: 2 });
    const both = await initialize(a);
    const alone = await initialize(a);
    await ask(b, ping, { session: both });
    for (const session of [both, alone]) {
      const notices = await get(a, { session });
      notices.cut();
    }
    await until(async () => (await ask(a, handshake)).status === 200);
    expect((await ask(b, ping, { session: both })).status).toBe(200);
    expect((await ask(b, ping, { session: alone })).status).toBe(404);
  });

  it("is not kept by ending a session that another replica has served", async () => {
    const { a, b } = await openThree({ maxSessions: 2 });
    const both = await initialize(a);
    await ask(b, ping, { session: both });
    await initialize(b);
    const notices = await get(a, { session: both });
    notices.cut();
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await ask(a, handshake)).status).toBe(409);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await ask(b, ping, { session: both })).status).toBe(200);
  });
});

describe("While the store is away, a session", () => {
  it("goes on where it is held, and others and new ones are refused soon", async () => {
    const { a, b, hub, faults } = await openThree({ sessionIdleMs: 400 });
    const session = await initialize(a);
    const notices = await get(a, { session });
    hub.setAvailable(false);
    const start = performance.now();
    while (performance.now() - start < 1_000) {
      expect((await ask(a, ping, { session })).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(notices.isOver).toBe(false);
    for (const reading of [
      await ask(b, ping, { session }),
      await ask(b, handshake),
      await get(b, { session }),
      await end(a, { session }),
    ]) {
      expect([reading.status, reading.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect(faults.length).toBe(2);
    hub.setAvailable(true);
    expect((await ask(a, ping, { session })).status).toBe(200);
    await until(async () => (await ask(b, handshake)).status === 200);
  });

  it("is stored again by its replicas when the store comes back empty, unless it was ended", async () => {
    const { a, b, c, hub } = await openThree({ maxSessions: 2, sessionIdleMs: 2_000 });
    const [kept, ended] = [await initialize(a), await initialize(a)];
    for (const session of [kept, ended]) await get(a, { session });
    await ask(b, ping, { session: kept });
    hub.clear();
    await until(async () => (await ask(c, ping, { session: kept })).status === 200);
    expect((await end(c, { session: ended })).status).toBe(200);
    expect((await ask(a, ping, { session: ended })).status).toBe(404);
    expect((await ask(b, ping, { session: ended })).status).toBe(404);
  });

  it("keeps what it is subscribed to for the replicas that come later", async () => {
    const { a, b, change, hub } = await openThree();
    const session = await initialize(a);
    hub.setAvailable(false);
    const subscribe = { id: "s", method: "resources/subscribe", params: { uri: "app://state" } };
    expect((await ask(a, subscribe, { session })).json["result"]).toEqual({});
    hub.setAvailable(true);
    const notices = await get(b, { session });
    await until(() => (change(), notices.methods.length > 0));
  });

  it("answers a call that runs, and logs the answer when another replica follows it later", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const walking = await post(a, callOf("w", "walk"), { session });
    await until(() => a.walks.waiting === 1);
    a.walks.go();
    await until(() => walking.messages.length === 1 && a.walks.waiting === 1);
    hub.setAvailable(false);
    a.walks.go(true);
    await walking.over();
    expect(walking.messages.length).toBe(2);
    hub.setAvailable(true);
    const resumed = await get(b, { session, lastId: walking.events[0]?.id });
    await resumed.over();
    expect(resumed.messages.at(-1)).toMatchObject({ id: "w", result: { structuredContent: { done: true } } });
  });
});
