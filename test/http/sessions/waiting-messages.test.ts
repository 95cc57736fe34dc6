import { afterEach, describe, expect, it } from "vitest";
import { ObservedChannel } from "../../../src/observe/observed-channel.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { SessionStreams } from "../../../src/http/sessions/session-streams.ts";
import { defineSurface, mcp } from "../../../src/index.ts";
import { openSteps } from "./app.ts";
import { callOf, SessionHarness, type FakeReply } from "./session-harness.ts";

const opened: SessionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

function keep(harness: SessionHarness): SessionHarness {
  opened.push(harness);
  return harness;
}

/** An app with one tool, which writes a line to its client's log. */
function openTalking(bounds: Partial<HttpBounds> = {}): SessionHarness {
  const app = mcp(defineSurface("talk", {}), { uriPrefix: "talk://", version: "1.0.0" })
    .implement({})
    .tools({
      say: {
        mutates: false,
        handler: (_input, { log }) => {
          log("info", "said");
          return "done";
        },
      },
    });
  return keep(new SessionHarness(app.open(), { keepAliveMs: 0, ...bounds }));
}

/** Has the tool write so many lines, each behind the one before. */
async function say(harness: SessionHarness, session: string, count: number): Promise<void> {
  for (let id = 0; id < count; id += 1) {
    const reply = harness.post(callOf(id, "say"), { session });
    await harness.until(() => reply.isOver);
  }
}

function linesOf(reply: FakeReply): number {
  return reply.messages.filter(({ method }) => method === "notifications/message").length;
}

function numbersOf(reply: FakeReply): number[] {
  return reply.events.map(({ id }) => Number(id?.split(".")[2]));
}

describe("A message of a session", () => {
  it("waits while its stream is cut, and is sent when a client resumes it", async () => {
    const harness = openTalking();
    const session = await harness.open();
    const first = harness.get({ session });
    await say(harness, session, 3);
    expect(linesOf(first)).toBe(3);
    first.cut();
    await say(harness, session, 3);
    const second = harness.get({ session }, first.events.at(-1)?.id);
    expect(linesOf(second)).toBe(3);
    expect(numbersOf(second)).toEqual([4, 5, 6]);
    expect(harness.leg.dropped).toBe(0);
  });

  it("waits for a client that does not listen yet; only the newest are kept, and the rest is counted", async () => {
    const harness = openTalking({ maxQueued: 4 });
    const session = await harness.open();
    await say(harness, session, 6);
    expect(harness.leg.dropped).toBe(2);
    const stream = harness.get({ session });
    expect(numbersOf(stream).slice(0, 6)).toEqual([0, 2, 3, 4, 5, 6]);
    expect(linesOf(stream)).toBe(4);
  });

  it("waits for a slow client, and comes in order", async () => {
    const harness = openTalking();
    const session = await harness.open();
    const stream = harness.get({ session }, undefined, 2);
    await say(harness, session, 5);
    expect(linesOf(stream)).toBe(1);
    stream.sink?.drain();
    expect(numbersOf(stream)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of a call waits for a slow client; only the newest are kept, and the rest is counted", async () => {
    const steps = openSteps();
    const harness = keep(new SessionHarness(steps.runtime, { keepAliveMs: 0, maxQueued: 3 }));
    const session = await harness.open();
    const reply = harness.post(callOf(1, "walk", { token: 1 }), { session });
    const step = async (): Promise<void> => {
      await harness.until(() => steps.waiting === 1);
      steps.step();
      await harness.until(() => steps.waiting === 1);
    };
    await step();
    if (reply.sink !== undefined) reply.sink.isFull = true;
    for (let at = 0; at < 5; at += 1) await step();
    expect(harness.leg.dropped).toBe(2);
    reply.sink?.drain();
    steps.arrive();
    await harness.until(() => reply.sink?.state === "ended");
    const said = reply.messages.map(({ id, params }) => id ?? Reflect.get(Object(params), "progress"));
    // Something was missed, and that is said where it is missing.
    expect(said).toEqual([1, undefined, 4, 5, 6, 1]);
  });

  it("rejects the question that it carries when it is dropped or the session ends", () => {
    const harness = keep(new SessionHarness(openSteps().runtime, { maxQueued: 2 }));
    const dropped: number[] = [];
    const streams = new SessionStreams({
      http: harness.setting,
      headers: {},
      primes: true,
      session: { caller: anonymous, touch() {}, clientLeft() {}, setOutputFull() {}, announce() {}, listened() {} },
      channel: new ObservedChannel(harness.setting.runtime.observers, "http"),
    });
    const ask = (number: number): void => streams.tell(`{"n":${number}}`, () => void dropped.push(number));
    for (let at = 0; at < 4; at += 1) ask(at);
    expect(dropped).toEqual([0, 1]);
    streams.close();
    expect(dropped).toEqual([0, 1, 2, 3]);
    ask(4);
    expect(dropped).toEqual([0, 1, 2, 3, 4]);
  });
});
