import { afterEach, describe, expect, it } from "vitest";
import { withRevocation } from "../../../src/http/auth/verdict.ts";
import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { settle } from "../../surface/support.ts";
import { openSteps, type Steps } from "../sessions/app.ts";
import type { FakeReply } from "../sessions/session-harness.ts";
import { StatelessHarness, type Sent } from "./stateless-harness.ts";

const opened: StatelessHarness[] = [];
afterEach(() => Promise.all(opened.splice(0).map((harness) => harness.close())));

function open(bounds: Partial<HttpBounds> = {}): { steps: Steps; harness: StatelessHarness } {
  const steps = openSteps();
  const harness = new StatelessHarness(steps.runtime, bounds);
  opened.push(harness);
  return { steps, harness };
}

const uri = "app://state";
const key = "io.modelcontextprotocol/subscriptionId";
const granted: Caller = { id: "somebody", isAnonymous: false, scopes: ["steps:read"] };

function listen(harness: StatelessHarness, id: number | string, sent: Sent = {}): FakeReply {
  const params = { notifications: { resourceSubscriptions: [uri, "app://nope"] } };
  return harness.ask({ id, method: "subscriptions/listen", params }, sent);
}

async function listening(harness: StatelessHarness, id: number | string, sent: Sent = {}): Promise<FakeReply> {
  const reply = listen(harness, id, sent);
  await harness.until(() => reply.messages.length > 0);
  return reply;
}

/** Changes something, and waits until whoever watches has had their time to be told. */
async function change(steps: Steps, harness: StatelessHarness): Promise<void> {
  steps.change();
  await settle(20);
  await harness.clock.pass(1);
}

const updated = (id: number | string): object => ({
  jsonrpc: "2.0",
  method: "notifications/resources/updated",
  params: { uri, _meta: { [key]: id } },
});

describe("a subscription of the modern era over HTTP", () => {
  it("acknowledges the honoured filters first, and sends each change under its own id", async () => {
    const { steps, harness } = open();
    const replies = [await listening(harness, 1), await listening(harness, 1), await listening(harness, "b")];
    for (const reply of replies) {
      expect(reply.messages).toEqual([
        expect.objectContaining({
          method: "notifications/subscriptions/acknowledged",
          params: expect.objectContaining({ notifications: { resourceSubscriptions: [uri] } }),
        }),
      ]);
      expect(reply.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    }
    steps.change();
    await harness.until(() => replies.every((reply) => reply.messages.length === 2));
    expect(replies.map((reply) => reply.messages[1])).toEqual([updated(1), updated(1), updated("b")]);
    expect(replies.every((reply) => reply.events.every(({ id }) => id === undefined))).toBe(true);
  });

  it("keeps one bit for each changed resource while its client does not read", async () => {
    const { steps, harness } = open();
    const [slow, quick] = [await listening(harness, "slow"), await listening(harness, "quick")];
    if (slow.sink !== undefined) slow.sink.room = 1;
    for (let count = 1; count <= 4; count += 1) {
      const before = quick.messages.length;
      await harness.until(() => (steps.change(), quick.messages.length > before));
    }
    expect(slow.messages).toHaveLength(2);
    slow.sink?.drain();
    expect(slow.messages).toHaveLength(3);
    expect(slow.messages[2]).toEqual(updated("slow"));
  });

  it("is dropped and let go of when its client reads nothing for 30 s", async () => {
    const { steps, harness } = open();
    const reply = await listening(harness, 1);
    if (reply.sink !== undefined) reply.sink.room = 1;
    await harness.until(() => (steps.change(), reply.sink?.isFull === true));
    await harness.clock.pass(29_999);
    expect(reply.sink?.state).toBe("open");
    await harness.clock.pass(1);
    expect(reply.sink?.state).toBe("destroyed");
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.clock.size).toBe(0);
    await change(steps, harness);
    expect(reply.messages).toHaveLength(2);
  });

  it("ends silently when its client leaves", async () => {
    const { steps, harness } = open();
    const reply = await listening(harness, 1);
    reply.cut();
    await change(steps, harness);
    expect(reply.messages).toHaveLength(1);
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.clock.size).toBe(0);
  });

  it("ends with its result when the server is drained, and none is taken any more", async () => {
    const { harness } = open();
    const replies = [await listening(harness, 1), await listening(harness, "b")];
    await harness.leg.drain();
    expect(replies.map((reply) => reply.sink?.state)).toEqual(["ended", "ended"]);
    expect(replies.map((reply) => reply.messages.at(-1))).toMatchObject([
      { id: 1, result: { _meta: { [key]: 1 } } },
      { id: "b", result: { _meta: { [key]: "b" } } },
    ]);
    expect(listen(harness, 3).plain.status).toBe(503);
    expect(harness.setting.admission.counts.streams).toBe(0);
  });

  it("ends with its result when its caller's token expires, and not before", async () => {
    const { harness } = open();
    const caller = { ...granted, expiresAt: Date.now() / 1000 + 3600 };
    const reply = await listening(harness, 1, { caller });
    await harness.clock.pass(3_590_000);
    expect(reply.sink?.state).toBe("open");
    await harness.clock.pass(20_000);
    expect(reply.sink?.state).toBe("ended");
    expect(reply.messages.at(-1)).toMatchObject({ id: 1, result: {} });
  });

  it("ends with its result when its caller's token is taken back, also where that was while it was on its way", async () => {
    const { harness } = open();
    const controller = new AbortController();
    const caller = withRevocation(granted, controller.signal);
    const reply = await listening(harness, 1, { caller });
    const other = await listening(harness, 2, { caller: granted });
    controller.abort();
    expect([reply.sink?.state, other.sink?.state]).toEqual(["ended", "open"]);
    expect(reply.messages.at(-1)).toMatchObject({ id: 1, result: {} });
    const late = await listening(harness, 3, { caller });
    await harness.clock.pass(1);
    expect(late.sink?.state).toBe("ended");
  });

  it("stays open when its caller's token is good for longer than a timer can wait", async () => {
    const { harness } = open({ keepAliveMs: 0 });
    const days = 86_400_000;
    const caller = { ...granted, expiresAt: (Date.now() + 60 * days) / 1000 };
    const reply = await listening(harness, 1, { caller });
    await harness.clock.pass(59 * days);
    expect(reply.sink?.state).toBe("open");
    await harness.clock.pass(2 * days);
    expect(reply.sink?.state).toBe("ended");
  });

  it("is written a comment when nothing happens for 15 s", async () => {
    const { harness } = open();
    const reply = await listening(harness, 1);
    await harness.clock.pass(15_000);
    expect(reply.sink?.text.endsWith("\n\n: keep-alive\n\n")).toBe(true);
  });

  it("gets 429 with JSON at the limit of its caller or of all callers", async () => {
    const { harness } = open({ maxStreamsPerPrincipal: 1, maxStreams: 2 });
    await listening(harness, 1, { caller: granted });
    const own = listen(harness, 2, { caller: granted });
    expect(own.plain).toMatchObject({
      status: 429,
      body: { id: 2, error: { data: { scope: "principal", limit: 1 } } },
    });
    const other = await listening(harness, 3);
    const all = listen(harness, 4);
    expect(all.plain).toMatchObject({ status: 429, body: { id: 4, error: { data: { scope: "global", limit: 2 } } } });
    other.cut();
    await listening(harness, 5);
  });

  it("is refused with JSON when its filter is not in order", () => {
    const { harness } = open();
    const reply = harness.ask({ id: 1, method: "subscriptions/listen", params: {} });
    expect(reply.plain).toMatchObject({ status: 200, body: { id: 1, error: { code: -32602 } } });
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.counters.read()).toMatchObject({ caps: 1, gate: 0 });
  });

  it("gets 403 with all scopes when its caller lacks one", () => {
    const { harness } = open();
    const reply = listen(harness, 1, { caller: { ...granted, scopes: [] } });
    expect(reply.plain).toMatchObject({ status: 403, body: { id: 1, error: { code: -32011 } } });
    expect(reply.headers["www-authenticate"]).toBe("steps:read");
    expect(harness.setting.admission.counts.streams).toBe(0);
    expect(harness.counters.read()).toMatchObject({ caps: 1, gate: 1, arguments: 0 });
  });

  it("is refused with 406 when its client reads no streams", () => {
    const { harness } = open();
    expect(listen(harness, 1, { accept: "application/json" }).plain).toMatchObject({ status: 406, body: { id: 1 } });
  });
});
