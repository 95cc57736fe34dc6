import { setImmediate } from "node:timers/promises";
import { RootsListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { createDesk } from "./desk-app.ts";
import { createServer, V1Harness, type Sent } from "./v1-harness.ts";

const able = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const call = (name: string, args: object = {}): object => ({ name, arguments: args });

async function open(capabilities: object = able) {
  const { app, seen } = createDesk();
  return Object.assign(await new V1Harness(app).open(capabilities), { seen });
}

/** The next question of a method. */
async function nextAsk(harness: V1Harness, method: string, after = 0): Promise<Sent> {
  const asked = (): readonly Sent[] => harness.sent.filter((message) => message["method"] === method);
  await harness.until(() => asked().length > after);
  return asked()[after] ?? {};
}

const accept = { action: "accept", content: { name: "Ann" } };

describe("a handler that asks on a server of the SDK 1.x", () => {
  it("is answered by the client of its connection, however the question is called", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("greet") });
    const ask = await nextAsk(harness, "elicitation/create");
    expect(ask["params"]).toMatchObject({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    });
    await harness.post({ id: ask["id"], result: accept });
    // Once more, as nobody may.
    await harness.post({ id: ask["id"], result: { action: "decline" } });
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.answers(1)).toMatchObject([{ result: { structuredContent: { said: "Ann" } } }]);
    await harness.close();
  });

  it("requests a message from the model, and roots once until its client announces a change", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("write") });
    const sample = await nextAsk(harness, "sampling/createMessage");
    const written = { role: "assistant", content: { type: "text", text: "tea" }, model: "m" };
    await harness.post({ id: sample["id"], result: written });
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.answers(1)).toMatchObject([{ result: { structuredContent: { said: "tea" } } }]);

    await harness.post({ id: 2, method: "tools/call", params: call("locate") });
    const roots = await nextAsk(harness, "roots/list");
    await harness.post({ id: roots["id"], result: { roots: [{ uri: "file:///a" }] } });
    await harness.until(() => harness.answers(2).length > 0);
    const again = await harness.request(3, "tools/call", call("locate"));
    expect(again).toMatchObject({ result: { structuredContent: { roots: ["file:///a"] } } });

    await harness.post({ id: 4, method: "tools/call", params: call("follow") });
    await harness.seen.followed;
    await harness.notify("notifications/roots/list_changed");
    await harness.until(() => harness.answers(4).length > 0);
    expect(harness.seen.rootsChanged).toBe(1);
    await harness.post({ id: 5, method: "tools/call", params: call("locate") });
    await nextAsk(harness, "roots/list", 1);
    await harness.close();
  });

  it("is refused after a nested call that may have changed something, and nothing is sent", async () => {
    const harness = await open();
    const answer = await harness.request(1, "tools/call", call("late"));
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answer)).toContain("ASK_AFTER_CHANGE");
    expect(harness.seen).toMatchObject({ erased: ["now"], failures: ["ASK_AFTER_CHANGE"] });
    expect(harness.sent).toHaveLength(1);
    await harness.close();
  });

  it.each(["greet", "write", "locate", "erase"])(
    "is refused before anything is sent when the client of %s cannot",
    async (name) => {
      const harness = await open({});
      const answer = await harness.request(1, "tools/call", call(name, { what: "it all" }));
      expect(answer).toMatchObject({ result: { isError: true } });
      expect(JSON.stringify(answer)).toContain("CLIENT_CANNOT");
      expect(harness.sent).toHaveLength(1);
      expect(harness.seen.erased).toEqual([]);
      await harness.close();
    },
  );

  it("receives an error's code, and nothing else from the client", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("greet") });
    const ask = await nextAsk(harness, "elicitation/create");
    await harness.post({ id: ask["id"], error: { code: -32001, message: "secret-token-xyz" } });
    await harness.until(() => harness.answers(1).length > 0);
    expect(JSON.stringify(harness.answers(1))).toContain("ASK_FAILED");
    expect(JSON.stringify(harness.answers(1))).not.toContain("secret");
    expect(harness.seen.failures).toEqual(["ASK_FAILED"]);
    await harness.close();
  });

  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const tooMuch: [string, unknown][] = [
    ["deeper than is allowed", nested(100)],
    ["so deep that nobody could write it", nested(20_000)],
    ["of more elements than are allowed", Array.from({ length: 20_000 }, () => 0)],
    ["of more bytes than are allowed", "x".repeat(5_000_000)],
  ];

  it.each(tooMuch)("is answered with nothing when the answer is %s", async (_how, name) => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("locate") });
    const ask = await nextAsk(harness, "roots/list");
    await harness.post({ id: ask["id"], result: { roots: [{ uri: "file:///a", name }] } });
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.seen.failures).toEqual(["ASK_FAILED"]);
    await harness.close();
  });

  it("has its question taken back when the client cancels the call", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("greet") });
    const ask = await nextAsk(harness, "elicitation/create");
    await harness.notify("notifications/cancelled", { requestId: 1 });
    await harness.until(() => harness.notices("notifications/cancelled").length > 0);
    expect(harness.notices("notifications/cancelled")).toMatchObject([{ requestId: ask["id"] }]);
    await harness.post({ id: ask["id"], result: accept });
    await setImmediate();
    expect(harness.seen.failures).toEqual(["ABORTED"]);
    expect(harness.answers(1)).toEqual([]);
    await harness.close();
  });

  it.each(["before", "after"])(
    "receives changed roots together with the author's own listener, set %s it was attached",
    async (when) => {
      const { app } = createDesk();
      const server = createServer();
      let heard = 0;
      const listen = (): void =>
        server.setNotificationHandler(RootsListChangedNotificationSchema, () => void (heard += 1));
      if (when === "before") listen();
      const harness = await new V1Harness(app, {}, server).open(able);
      if (when === "after") listen();
      for (const [at, uri] of ["file:///a", "file:///b"].entries()) {
        await harness.post({ id: at, method: "tools/call", params: call("locate") });
        const roots = await nextAsk(harness, "roots/list", at);
        await harness.post({ id: roots["id"], result: { roots: [{ uri }] } });
        await harness.until(() => harness.answers(at).length > 0);
        expect(harness.answers(at)).toMatchObject([{ result: { structuredContent: { roots: [uri] } } }]);
        await harness.notify("notifications/roots/list_changed");
      }
      await setImmediate();
      expect(heard).toBe(2);
      await harness.close();
    },
  );

  it("cancels its question, and keeps the connection, when the attachment is closed", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("greet") });
    const ask = await nextAsk(harness, "elicitation/create");
    const { transport } = harness.server;
    const during = transport?.onmessage;
    await harness.attached.close();
    expect(transport?.onmessage).not.toBe(during);
    expect(harness.notices("notifications/cancelled")).toMatchObject([{ requestId: ask["id"] }]);
    expect(await harness.request(2, "ping")).toMatchObject({ result: {} });
    await harness.close();
  });

  it.each<[string, (harness: V1Harness) => Promise<void>]>([
    ["the client leaves", (harness) => harness.leave()],
    ["the server closes", (harness) => harness.server.close()],
    ["what is attached is closed", (harness) => harness.attached.close()],
  ])("is refused at once when %s", async (_when, end) => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("greet") });
    await nextAsk(harness, "elicitation/create");
    await end(harness);
    await expect.poll(() => harness.seen.failures).toHaveLength(1);
    expect(harness.seen.faults).toEqual([]);
    await harness.close();
  });

  it("is answered within the time that its tool sets, and the question is taken back", async () => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("hurried") });
    const ask = await nextAsk(harness, "elicitation/create");
    await harness.until(() => harness.answers(1).length > 0);
    expect(JSON.stringify(harness.answers(1))).toContain("the client had not answered the form");
    expect(harness.notices("notifications/cancelled")).toMatchObject([{ requestId: ask["id"] }]);
    await harness.post({ id: ask["id"], result: accept });
    expect(await harness.request(2, "ping")).toMatchObject({ result: {} });
    expect(harness.seen.faults).toEqual([]);
    await harness.close();
  });

  it.each([
    ["accept", { action: "accept", content: {} }, ["it all"]],
    ["decline", { action: "decline" }, []],
    ["cancel", { action: "cancel" }, []],
  ])("runs a confirmed call only after the user's answer: %s", async (_said, result, erased) => {
    const harness = await open();
    await harness.post({ id: 1, method: "tools/call", params: call("erase", { what: "it all", confirmed: true }) });
    const ask = await nextAsk(harness, "elicitation/create");
    expect(JSON.stringify(ask["params"])).toContain("Erase everything");
    expect(JSON.stringify(ask["params"])).toContain("it all");
    expect(harness.seen.erased).toEqual([]);
    await harness.post({ id: ask["id"], result });
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.seen.erased).toEqual(erased);
    await harness.close();
  });
});
