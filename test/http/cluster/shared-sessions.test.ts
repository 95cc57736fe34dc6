import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, describe, expect, it } from "vitest";
import { ask, callOf, end, get, initialize, closeThree, openThree, post, until, withStore } from "./replicas.ts";

afterEach(closeThree);

const ping = { id: "p", method: "ping" };
const listTools = { id: "l", method: "tools/list" };

describe("A session", () => {
  it("is served by every replica", async () => {
    const { a, b, c } = await openThree();
    const session = await initialize(a);
    for (const replica of [b, c, a, b]) {
      const { status, json, headers } = await ask(replica, listTools, { session });
      expect([status, json["id"], headers.get("mcp-session-id")]).toEqual([200, "l", session]);
    }
    expect([a, b, c].map(({ serving }) => serving.stats().sessions)).toEqual([1, 1, 1]);
  });

  it("is adopted once when many requests for it arrive together", async () => {
    const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
    const { a, b } = await openThree({ wrap: (cluster) => withStore(cluster, soon, "get") });
    const session = await initialize(a);
    const all = await Promise.all(Array.from({ length: 20 }, (_, id) => ask(b, { id, method: "ping" }, { session })));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(b.serving.stats().sessions).toBe(1);
  });

  it("is unknown to another caller, on every replica, and cannot be ended by them", async () => {
    const { a, b, c } = await openThree({ isKnown: true });
    const session = await initialize(a, "ada");
    expect((await ask(b, ping, { session, token: "ada" })).status).toBe(200);
    for (const replica of [a, b, c]) {
      expect((await ask(replica, ping, { session, token: "bob" })).status).toBe(404);
      expect((await get(replica, { session, token: "bob" })).status).toBe(404);
      expect((await end(replica, { session, token: "bob" })).status).toBe(404);
    }
    expect(c.serving.stats().sessions).toBe(0);
    for (const replica of [a, b, c]) expect((await ask(replica, ping, { session, token: "ada" })).status).toBe(200);
  });

  it.each(["", "x", "../../session", "00000000-0000-4000-8000-000000000000"])(
    "is unknown by the id %j",
    async (session) => {
      const { b } = await openThree();
      expect((await ask(b, ping, { session })).status).toBe(404);
    },
  );

  it("is unknown everywhere at once when one replica has ended it, and its streams end", async () => {
    const { a, b, c } = await openThree();
    const session = await initialize(a);
    await ask(c, ping, { session });
    const notices = await get(a, { session });
    const walking = await post(a, callOf(1, "walk"), { session });
    await until(() => a.walks.waiting === 1);
    expect((await end(b, { session })).status).toBe(200);
    await until(() => notices.isOver && walking.isOver && a.walks.aborted === 1);
    for (const replica of [a, b, c]) expect((await ask(replica, ping, { session })).status).toBe(404);
    expect((await end(b, { session })).status).toBe(404);
    expect([a, b, c].map(({ serving }) => serving.stats().sessions)).toEqual([0, 0, 0]);
  });

  it("does not come back when a replica misses its end, which it finds out", async () => {
    const { a, b, c, hub } = await openThree({ sessionIdleMs: 2_000 });
    const session = await initialize(a);
    const notices = await get(a, { session });
    hub.drop(({ to }) => to === a.id);
    expect((await end(b, { session })).status).toBe(200);
    expect(a.serving.stats().sessions).toBe(1);
    expect((await ask(c, ping, { session })).status).toBe(404);
    // At its next renewal, since an open stream keeps the session.
    await notices.over();
    expect((await ask(a, ping, { session })).status).toBe(404);
  });

  it("ends with a gap on the bus when the end was in it", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a);
    const notices = await get(a, { session });
    hub.drop(({ to }) => to === a.id);
    await end(b, { session });
    expect(a.serving.stats().sessions).toBe(1);
    hub.drop(() => false);
    hub.beat();
    await notices.over();
    expect(a.serving.stats().sessions).toBe(0);
  });

  it("goes on when the replica that opened it closes", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    await a.serving.close();
    expect((await ask(b, ping, { session })).status).toBe(200);
  });

  it("goes on while it is used on any replica, and ends everywhere when it is not", async () => {
    const { a, b, c } = await openThree({ sessionIdleMs: 400 });
    const session = await initialize(a);
    const start = performance.now();
    while (performance.now() - start < 1_500) {
      expect((await ask(b, ping, { session })).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    expect(a.serving.stats().sessions).toBe(0);
    expect((await ask(c, ping, { session })).status).toBe(200);
    await until(() => [a, b, c].every(({ serving }) => serving.stats().sessions === 0));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await ask(a, ping, { session })).status).toBe(404);
  });

  it("is bound to the replica that opened it when sessions are sticky", async () => {
    const { a, b } = await openThree({ sessions: "sticky" });
    const session = await initialize(a);
    expect((await ask(b, ping, { session })).status).toBe(404);
    expect((await ask(a, ping, { session })).status).toBe(200);
  });

  it("serves a client of the SDK that reaches another replica with each request", async () => {
    const { a, all, change } = await openThree();
    let at = 0;
    const spread: typeof fetch = (url, init) => {
      const to = new URL(url instanceof Request ? url.url : url);
      to.port = String(all[(at += 1) % all.length]?.serving.port);
      return fetch(to, init);
    };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(a.url), { fetch: spread }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("walk");
    let updated = 0;
    client.fallbackNotificationHandler = async ({ method }) =>
      void (updated += Number(method === "notifications/resources/updated"));
    await client.subscribeResource({ uri: "app://state" });
    await until(() => (change(), updated > 0));
    const heard: number[] = [];
    const calling = client.callTool({ name: "walk", arguments: {} }, undefined, {
      onprogress: ({ progress }) => void heard.push(progress),
    });
    await until(() => all.some(({ walks }) => walks.waiting === 1));
    for (const { walks } of all) walks.go();
    await until(() => heard.length === 1);
    for (const { walks } of all) walks.go(true);
    expect((await calling).structuredContent).toEqual({ done: true });
    await client.close();
  });
});

describe("A message at another replica than the one it is for", () => {
  it("cancels the call", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a);
    const walking = await post(a, callOf("w", "walk"), { session });
    await until(() => a.walks.waiting === 1);
    const cancel = { method: "notifications/cancelled", params: { requestId: "w" } };
    expect((await ask(b, cancel, { session })).status).toBe(202);
    await walking.over();
    expect(a.walks.aborted).toBe(1);
    expect(walking.methods).toEqual([]);
  });

  it("answers the question", async () => {
    const { a, b } = await openThree();
    const session = await initialize(a, undefined, { elicitation: {} });
    const greeting = await post(a, callOf(1, "greet"), { session });
    await until(() => greeting.messages.length === 1);
    const [question] = greeting.messages;
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await ask(b, { id: question?.["id"], result }, { session })).status).toBe(202);
    await greeting.over();
    expect(a.walks.greeted).toEqual(["Ada"]);
    expect((await ask(b, { id: question?.["id"], result }, { session })).status).toBe(202);
  });

  it("answers the question when the bus lost the notice of it", async () => {
    const { a, b, hub } = await openThree();
    const session = await initialize(a, undefined, { elicitation: {} });
    const greeting = await post(a, callOf(1, "greet"), { session });
    await until(() => greeting.messages.length === 1);
    hub.drop(() => true);
    const result = { action: "accept", content: { name: "Ada" } };
    await ask(b, { id: greeting.messages[0]?.["id"], result }, { session });
    hub.drop(() => false);
    hub.beat();
    await greeting.over();
    expect(a.walks.greeted).toEqual(["Ada"]);
  });

  it("does not answer the question by a token of fewer rights, nor does that replace an answer on its way", async () => {
    const { a, b, hub } = await openThree({ isKnown: true });
    const session = await initialize(a, "ada", { elicitation: {} });
    const greeting = await post(a, callOf(1, "greet"), { session, token: "ada" });
    await until(() => greeting.messages.length === 1);
    const id = greeting.messages[0]?.["id"];
    const answerOf = (name: string): object => ({ id, result: { action: "accept", content: { name } } });
    await ask(b, answerOf("Eve"), { session, token: "ada-reads" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    hub.drop(() => true);
    await ask(b, answerOf("Ada"), { session, token: "ada" });
    await ask(b, answerOf("Eve"), { session, token: "ada-reads" });
    hub.drop(() => false);
    hub.beat();
    await greeting.over();
    expect(a.walks.greeted).toEqual(["Ada"]);
  });
});
