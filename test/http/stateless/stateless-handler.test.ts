import { afterEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { createFeaturesApp } from "../../mcp/features-app.ts";
import { settle } from "../../surface/support.ts";
import { openSteps, type Steps } from "../sessions/app.ts";
import { StatelessHarness } from "./stateless-harness.ts";

const opened: { readonly harness: StatelessHarness; readonly steps?: Steps }[] = [];
afterEach(async () => {
  for (const { harness, steps } of opened.splice(0)) {
    await harness.leg.close();
    // What hears of no abort has to come to its end.
    steps?.arrive();
    await harness.close();
  }
});

function open(bounds: Partial<HttpBounds> = {}): { steps: Steps; harness: StatelessHarness } {
  const steps = openSteps();
  const harness = new StatelessHarness(steps.runtime, bounds);
  opened.push({ harness, steps });
  return { steps, harness };
}

const level = "io.modelcontextprotocol/logLevel";
const somebody: Caller = { id: "somebody", isAnonymous: false, scopes: ["steps:read", "steps:write"] };
const nobody: Caller = { id: "nobody", isAnonymous: false, scopes: ["other"] };

describe("a request of the modern era over HTTP", () => {
  it("gets one JSON response without a progress token, also if the call reports progress", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk");
    await settle(20);
    steps.step();
    await settle(20);
    expect(reply.isOver).toBe(false);
    await harness.until(() => (steps.arrive(), reply.isOver));
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, result: { structuredContent: { done: true } } } });
    expect(reply.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  });

  it("starts no timer without a progress token", () => {
    const { harness } = open();
    const timers = harness.clock.size;
    const reply = harness.ask({ id: 1, method: "tools/list" }, { meta: { progressToken: {} } });
    expect(reply.plain).toMatchObject({ status: 400, body: { error: { code: -32602 } } });
    expect(harness.clock.size).toBe(timers);
  });

  it("turns into a stream with its first report, and closes behind its result, when it has a token", async () => {
    const { steps, harness } = open();
    const reply = harness.call("a", "walk", { token: "t" });
    await settle(20);
    expect(reply.isOver).toBe(false);
    await harness.until(() => (steps.step(), reply.messages.length > 0));
    await harness.until(() => (steps.arrive(), reply.sink?.state === "ended"));
    const [report, ...rest] = reply.messages;
    expect(report).toMatchObject({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "t", progress: 1, total: 100 },
    });
    expect(rest.at(-1)).toMatchObject({ id: "a", result: { structuredContent: { done: true } } });
    expect(reply.messages.filter((message) => "id" in message)).toHaveLength(1);
    expect(reply.headers["content-type"]).toBe("text/event-stream");
    // Nothing can be resumed in this era.
    expect(reply.events.every(({ id }) => id === undefined)).toBe(true);
  });

  it("gets a stream of one event with a progress token and no report", async () => {
    const { harness } = open();
    const reply = await harness.answered(harness.call(2, "echo", { args: { text: "a" }, token: 7 }));
    expect(reply.messages).toEqual([expect.objectContaining({ id: 2, result: expect.anything() })]);
    expect(reply.sink?.state).toBe("ended");
  });

  it("is answered with JSON when it has a token, and an error comes before any report", async () => {
    const { harness } = open();
    const reply = await harness.answered(harness.call(2, "nope", { token: 7 }));
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 2, error: { code: -32602 } } });
  });

  it.each(["application/json", "application/json, text/event-stream;q=0"])(
    "is answered as without its token when its client reads %s only",
    async (accept) => {
      const { harness } = open();
      const reply = await harness.answered(harness.call(2, "echo", { args: { text: "a" }, token: 7, accept }));
      expect(reply.plain).toMatchObject({ status: 200, body: { id: 2 } });
    },
  );

  it("gets no progress when its client does not accept streams", async () => {
    const { steps, harness } = open();
    const reply = harness.call(2, "walk", { token: 7, accept: "application/json" });
    for (let count = 0; count < 5; count += 1) {
      await settle(20);
      steps.step();
    }
    await harness.until(() => (steps.arrive(), reply.isOver));
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 2 } });
  });

  it("aborts its handler and frees its permit when its client leaves", async () => {
    const { steps, harness } = open({ maxInFlight: 1 });
    const reply = harness.call(1, "walk");
    await settle(50);
    await harness.until(() => (steps.step(), true));
    await settle(20);
    reply.cut();
    await harness.until(() => steps.counts.aborted === 1);
    const next = await harness.answered(harness.call(1, "echo", { args: { text: "b" } }));
    expect(next.plain).toMatchObject({ status: 200 });
  });

  it("gets 403 with all scopes when its caller lacks one", async () => {
    const { harness } = open();
    const reply = await harness.answered(harness.call(1, "echo", { args: { text: "a" }, caller: nobody }));
    expect(reply.plain).toMatchObject({ status: 403, body: { id: 1, error: { code: -32011 } } });
    expect(reply.headers["www-authenticate"]).toBe("steps:read");
    const granted = await harness.answered(harness.call(1, "echo", { args: { text: "a" }, caller: somebody }));
    expect(granted.plain.status).toBe(200);
  });

  it("gets 404 for an unknown method", async () => {
    const { harness } = open();
    for (const method of ["nope", "ping", "initialize", "logging/setLevel", "resources/subscribe"]) {
      const reply = await harness.answered(harness.ask({ id: 3, method }));
      expect(reply.plain).toMatchObject({ status: 404, body: { id: 3, error: { code: -32601 } } });
    }
  });

  it("counts how far it came", async () => {
    const { harness } = open();
    await harness.answered(harness.call(1, "echo", { args: { text: "a" } }));
    expect(harness.counters.read()).toMatchObject({ caps: 1, gate: 1, arguments: 1, backend: 1 });
    await harness.answered(harness.call(1, "echo", { args: { text: "a" }, caller: nobody }));
    expect(harness.counters.read()).toMatchObject({ caps: 2, gate: 2, arguments: 1, backend: 1 });
  });

  it("gets an answer when the server closes while it runs", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk");
    await settle(100);
    await harness.leg.close();
    expect(reply.isOver).toBe(true);
    expect(steps.counts.arrived).toBe(0);
    const late = harness.call(2, "echo", { args: { text: "a" } });
    expect(late.plain).toMatchObject({ status: 503, body: { id: 2, error: { code: -32000 } } });
  });

  it("opens its stream and keeps it alive after 15 s without a report", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk", { token: 1 });
    await harness.clock.pass(14_999);
    expect(reply.sink).toBeUndefined();
    await harness.clock.pass(1);
    expect(reply.sink?.text).toBe(": keep-alive\n\n");
    await harness.clock.pass(15_000);
    expect(reply.sink?.text).toBe(": keep-alive\n\n".repeat(2));
    await harness.until(() => (steps.arrive(), reply.sink?.state === "ended"));
    expect(reply.messages).toEqual([expect.objectContaining({ id: 1 })]);
    await harness.clock.pass(60_000);
    expect(harness.clock.size).toBe(0);
  });

  it("drops reports that its client does not read, and still sends the result", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk", { token: 1 });
    await harness.until(() => (steps.step(), reply.sink !== undefined));
    const { sink } = reply;
    if (sink === undefined) throw new Error("no stream");
    sink.isFull = true;
    const before = reply.messages.length;
    for (let count = 0; count < 10; count += 1) {
      steps.step();
      await settle(5);
    }
    expect(reply.messages).toHaveLength(before);
    sink.drain();
    await harness.until(() => (steps.step(), reply.messages.length > before));
    sink.isFull = true;
    await harness.until(() => (steps.arrive(), sink.state === "ended"));
    expect(reply.messages.at(-1)).toMatchObject({ id: 1, result: {} });
  });

  it("is aborted, and its stream dropped, when that stays full for 30 s", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk", { token: 1 });
    await harness.until(() => (steps.step(), reply.sink !== undefined));
    const { sink } = reply;
    if (sink === undefined) throw new Error("no stream");
    sink.room = 1;
    await harness.until(() => (steps.step(), sink.isFull));
    await harness.clock.pass(29_999);
    expect(sink.state).toBe("open");
    await harness.clock.pass(1);
    expect(sink.state).toBe("destroyed");
    await harness.until(() => steps.counts.aborted === 1);
    expect(harness.clock.size).toBe(0);
  });

  it("aborts nothing when its client leaves after the answer", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk");
    await harness.until(() => (steps.arrive(), reply.isOver));
    reply.cut();
    await settle(20);
    expect(steps.counts).toEqual({ aborted: 0, arrived: 1 });
  });

  it("never starts when its client leaves while it waits for its turn", async () => {
    const { steps, harness } = open({ maxInFlight: 1 });
    const first = harness.call(1, "walk");
    const second = harness.call(1, "walk");
    const third = harness.call(1, "echo", { args: { text: "c" } });
    second.cut();
    await harness.until(() => (steps.arrive(), third.isOver));
    expect(first.plain).toMatchObject({ status: 200 });
    expect(steps.counts).toEqual({ aborted: 0, arrived: 1 });
  });

  it("is answered 429 with a hint when 256 wait already", async () => {
    const { harness } = open({ maxInFlight: 1 });
    const replies = Array.from({ length: 257 }, (_, id) => harness.call(id, "walk"));
    expect(replies.every((reply) => !reply.isOver)).toBe(true);
    const refused = harness.call("last", "walk", { token: 1 });
    expect(refused.plain).toMatchObject({ status: 429, body: { id: "last", error: { code: -32000 } } });
    expect(refused.headers["retry-after"]).toBe("1");
    // Who leaves makes room at once, also where they only waited.
    replies.pop()?.cut();
    expect(harness.call("next", "walk").isOver).toBe(false);
    await harness.leg.close();
    expect(replies.every((reply) => reply.isOver)).toBe(true);
    expect(replies.at(-1)?.plain.status).toBe(503);
  });

  it("carries its log messages on its own stream if it requests them", async () => {
    const harness = new StatelessHarness(createFeaturesApp().open());
    opened.push({ harness });
    const heard = await harness.answered(harness.call(1, "link", { meta: { [level]: "debug" } }));
    expect(heard.messages).toEqual([
      expect.objectContaining({ method: "notifications/message", params: { level: "debug", data: "looked up" } }),
      expect.objectContaining({ id: 1, result: expect.anything() }),
    ]);
    const higher = await harness.answered(harness.call(1, "link", { meta: { [level]: "error" } }));
    expect(higher.plain.status).toBe(200);
    const unasked = await harness.answered(harness.call(1, "link", { token: 1 }));
    expect(unasked.messages).toHaveLength(1);
  });

  it("is answered 400 when its token is no token", async () => {
    const { harness } = open();
    const reply = harness.ask({ id: 1, method: "tools/list" }, { meta: { progressToken: {} } });
    expect(reply.plain).toMatchObject({ status: 400, body: { id: 1, error: { code: -32602 } } });
  });

  it("is answered with nothing when it asks for shutdown", () => {
    const { harness } = open();
    expect(harness.ask({ id: 1, method: "shutdown" }).plain).toMatchObject({ status: 200, body: { id: 1 } });
  });

  it("holds up the drain until its handler ends", async () => {
    const { steps, harness } = open();
    const reply = harness.call(1, "walk");
    let isDrained = false;
    void harness.leg.drain().then(() => (isDrained = true));
    await settle(20);
    expect(isDrained).toBe(false);
    expect(harness.call(2, "echo", { args: { text: "a" } }).plain.status).toBe(503);
    await harness.until(() => (steps.arrive(), isDrained));
    expect(reply.plain.status).toBe(200);
  });

  it("gets its own answer when two callers send the same ids, 10,000 times", { timeout: 60_000 }, async () => {
    const { harness } = open({ maxInFlight: 1000 });
    const callers = ["ada", "bob"].map((id): Caller => ({ ...somebody, id }));
    const asked: (readonly [nonce: string, reply: ReturnType<StatelessHarness["call"]>])[] = [];
    for (let round = 0; round < 50; round += 1) {
      for (let id = 0; id < 100; id += 1) {
        for (const caller of callers) {
          const nonce = `${caller.id} ${round} ${id}`;
          const token = id % 3 === 0 ? id : undefined;
          const args = { text: nonce };
          asked.push([nonce, harness.call(id, "echo", { args, caller, ...(token === undefined ? {} : { token }) })]);
        }
      }
      await settle(1);
    }
    await harness.until(() => asked.every(([, reply]) => reply.isOver));
    expect(asked).toHaveLength(10_000);
    for (const [nonce, reply] of asked) {
      const answer = reply.sink === undefined ? reply.plain.body : reply.messages[0];
      expect(answer).toMatchObject({ result: { structuredContent: { text: nonce } } });
    }
  });
});
