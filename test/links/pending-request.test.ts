import { afterEach, describe, expect, it } from "vitest";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import { listeners, settle, take } from "../surface/support.ts";
import { closeAll, connect, idleMs, lost, open, outcomeOf } from "./held-support.ts";

afterEach(closeAll);

describe("ReconnectingSurface, a use that is answered once", () => {
  it("is sent again, once a connection, when it reads and its connection is lost", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const outcome = outcomeOf(channel.get("value", {}));
    await settle();
    link.last.end(lost);
    await settle();
    expect(outcome).toEqual({});
    await clock.pass(25);
    expect([link.dials.length, link.last.asked.length]).toEqual([2, 1]);
    link.last.asked[0]?.answer(2);
    await settle();
    expect(outcome).toEqual({ value: 2 });
  });

  it("says that it cannot be reached when every connection is lost under it", async () => {
    const { clock, link, channel } = open();
    const outcome = outcomeOf(channel.get("value", {}));
    for (let drop = 0; drop < 3; drop += 1) {
      await clock.pass(1000);
      link.last.end(lost);
    }
    await clock.pass(5000);
    expect(outcome.cause).toMatchObject({ code: "UNAVAILABLE" });
    expect(link.connections.map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
  });

  it("is never sent again when it may change something, and says that its outcome is unknown", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const outcomes = [
      channel.call("run", undefined, {}),
      channel.call("look", undefined, { idempotent: false }),
      channel.call("nobody knows", undefined, {}),
    ].map(outcomeOf);
    await settle();
    link.last.end(lost);
    await clock.pass(10_000);
    for (const { cause } of outcomes) expect(cause).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(link.connections).toHaveLength(1);
  });

  it("counts as a read when its procedure is, or when its caller says that it may be sent twice", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const outcomes = [channel.call("look", undefined, {}), channel.call("run", undefined, { idempotent: true })].map(
      outcomeOf,
    );
    await settle();
    link.last.end(lost);
    await clock.pass(25);
    for (const [index, { answer }] of link.last.asked.entries()) answer(index);
    await settle();
    expect(outcomes).toEqual([{ value: 0 }, { value: 1 }]);
  });

  it("is known to have been sent nowhere when its connection had ended: safe to try again", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    const first = await connect(opened);
    // Known to the far side, and not yet here.
    first.isOver = true;
    const [running, reading] = [channel.call("run", undefined, {}), channel.get("value", {})].map(outcomeOf);
    await settle();
    expect(running?.cause).toMatchObject({ code: "UNAVAILABLE" });
    expect(reading).toEqual({});
    first.end(lost);
    await clock.pass(25);
    link.last.asked[0]?.answer(1);
    await settle();
    expect(reading).toEqual({ value: 1 });
  });

  it("waits for a connection when it reads, as long as an application takes to start, and fails at once when it may not", async () => {
    const { clock, link, channel } = open("refuse");
    const [reading, giving, running] = [
      channel.get("value", {}),
      channel.latest("frames", undefined, {}),
      channel.call("run", undefined, {}),
    ].map(outcomeOf);
    await settle();
    expect(running?.cause).toMatchObject({ code: "UNAVAILABLE", cause: new Error("refused") });
    await clock.pass(4000);
    const late = outcomeOf(channel.get("value", {}));
    await clock.pass(999);
    expect([reading, giving]).toEqual([{}, {}]);
    await clock.pass(1);
    for (const outcome of [reading, giving]) expect(outcome?.cause).toMatchObject({ code: "UNAVAILABLE" });
    link.answer = "accept";
    await clock.pass(1000);
    link.last.asked[0]?.answer(1);
    await settle();
    expect(late).toEqual({ value: 1 });
  });

  it("passes on what the far side says no with, and keeps the connection", async () => {
    const opened = open();
    const { link, channel } = opened;
    await connect(opened);
    const causes = [
      new Refusal("red", "it is red"),
      new SurfaceError("INTERNAL", "an internal error occurred"),
      new SurfaceError("CLOSED", "the application behind this is closing"),
      undefined,
    ];
    for (const cause of causes) {
      const asking = Promise.allSettled([channel.call("run", undefined, {})]);
      await settle();
      link.last.asked.at(-1)?.fail(cause);
      expect(await asking).toEqual([{ status: "rejected", reason: cause }]);
    }
    expect([link.dials.length, link.last.closes]).toEqual([1, 0]);
  });

  it("rejects when the channel throws instead, and keeps nothing in use", async () => {
    const opened = open();
    const first = await connect(opened);
    // Not asynchronous, as a channel should be.
    Object.defineProperty(first.asked, "push", {
      value: () => {
        throw new Error("thrown");
      },
    });
    await expect(opened.channel.get("value", {})).rejects.toThrow("thrown");
    await opened.clock.pass(idleMs);
    expect(first.closes).toBe(1);
  });

  it("hands over its options untouched", async () => {
    const opened = open();
    const { link, channel } = opened;
    await connect(opened);
    const options = { onProgress: () => {}, idempotent: true, signal: new AbortController().signal };
    void outcomeOf(channel.call("run", 5, options));
    await settle();
    expect(link.last.asked[1]?.use.options).toBe(options);
    expect(listeners(options.signal)).toBe(0);
  });

  it("lets go of its signal once it has been sent and answered, where it had to wait", async () => {
    const { link, channel } = open("hold");
    const { signal } = new AbortController();
    const asking = channel.get("value", { signal });
    await settle();
    expect(listeners(signal)).toBe(1);
    link.lastDial.accept();
    await settle();
    link.last.asked[0]?.answer(1);
    await asking;
    expect(listeners(signal)).toBe(0);
  });

  it("ends by its signal while it waits for the next connection", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const controller = new AbortController();
    const outcome = outcomeOf(channel.get("value", { signal: controller.signal }));
    await settle();
    link.answer = "hold";
    link.last.end(lost);
    await clock.pass(25);
    controller.abort();
    await settle();
    expect(outcome.cause).toMatchObject({ code: "ABORTED" });
    expect([listeners(controller.signal), link.lastDial.signal?.aborted, clock.size]).toEqual([0, true, 0]);
  });
});

describe("ReconnectingSurface, a wait whose connection is lost", () => {
  it("goes on from its cursor for what is left of its time", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const { signal } = new AbortController();
    const outcome = outcomeOf(channel.wait("rang", undefined, { since: "a.1", timeoutMs: 20_000, signal }));
    await clock.pass(3000);
    link.last.end(lost);
    await clock.pass(25);
    expect(link.last.asked[0]?.use).toMatchObject({
      verb: "wait",
      options: { since: "a.1", timeoutMs: 17_000, signal },
    });
    const answer = { status: "fired", cursor: "a.2", occurrence: 5 };
    link.last.asked[0]?.answer(answer);
    await settle();
    expect(outcome).toEqual({ value: answer });
  });

  it("looks once and says that it was reset when it has no cursor", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    await connect(opened);
    const outcome = outcomeOf(channel.wait("rang", undefined, {}));
    await settle();
    for (let drop = 0; drop < 2; drop += 1) {
      link.last.end(lost);
      await clock.pass(1000);
      expect(link.last.asked[0]?.use.options).toEqual({ timeoutMs: 0 });
    }
    link.last.asked[0]?.answer({ status: "timed_out", cursor: "b.0" });
    await settle();
    expect(outcome).toEqual({ value: { status: "timed_out", cursor: "b.0", reset: true } });
  });

  it("is sent for what is left of its time when it had to wait for a connection first", async () => {
    const { clock, link, channel } = open("refuse");
    const [own, usual, short] = [{ timeoutMs: 20_000 }, {}, { timeoutMs: 10 }].map((options) =>
      outcomeOf(channel.wait("rang", undefined, options)),
    );
    await clock.pass(2000);
    link.answer = "accept";
    await clock.pass(1000);
    const sent = link.last.asked.map(({ use }) => use.options.timeoutMs);
    const waited = 20_000 - Number(sent[0]);
    expect(waited).toBeGreaterThanOrEqual(2000);
    expect(sent).toEqual([20_000 - waited, 25_000 - waited, 0]);
    for (const { answer } of link.last.asked) answer("answered");
    await settle();
    expect([own, usual, short]).toEqual(Array.from({ length: 3 }, () => ({ value: "answered" })));
  });

  it("answers that nothing was seen when there was no connection for all of its time and it has a cursor", async () => {
    const { clock, channel } = open("refuse");
    const [with20, usual, without] = [
      channel.wait("rang", undefined, { since: "a.1", timeoutMs: 20_000 }),
      channel.wait("rang", undefined, { since: "a.2" }),
      channel.wait("rang", undefined, {}),
    ].map(outcomeOf);
    await clock.pass(19_999);
    expect(with20).toEqual({});
    await clock.pass(1);
    expect(with20).toEqual({ value: { status: "timed_out", cursor: "a.1" } });
    await clock.pass(5000);
    expect(usual).toEqual({ value: { status: "timed_out", cursor: "a.2" } });
    expect(without?.cause).toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("ReconnectingSurface, a use that is answered again and again", () => {
  it.each([
    ["its consumer leaves", async (values: AsyncIterator<unknown>) => void (await values.return?.())],
    ["it ends", async () => {}],
    ["it fails", async () => {}],
    ["its signal fires", async (_values: AsyncIterator<unknown>, controller: AbortController) => controller.abort()],
  ])("keeps the connection from idling, until %s", async (how, end) => {
    const opened = open();
    const { clock, channel } = opened;
    const first = await connect(opened);
    let finish = (): void => {};
    if (how === "it ends" || how === "it fails") {
      first.onFollow = async function* () {
        yield 1;
        await new Promise<void>((resolve) => (finish = resolve));
        if (how === "it fails") throw new Refusal("red", "it is red");
      };
    }
    const controller = new AbortController();
    const values = channel.watch("value", { signal: controller.signal })[Symbol.asyncIterator]();
    await values.next();
    const next = Promise.allSettled([values.next()]);
    await clock.pass(10 * idleMs);
    expect(first.closes).toBe(0);
    await end(values, controller);
    finish();
    await next;
    await clock.pass(idleMs);
    expect([first.closes, first.following, clock.size]).toEqual([1, 0, 0]);
  });

  it.each([
    [
      "the channel throws",
      () => {
        throw new Error("thrown");
      },
    ],
    [
      "it cannot be iterated over",
      () => ({
        [Symbol.asyncIterator]: () => {
          throw new Error("thrown");
        },
      }),
    ],
  ])("keeps nothing in use when %s", async (_how, onFollow) => {
    const opened = open();
    const first = await connect(opened);
    first.onFollow = onFollow;
    await expect(take(opened.channel.watch("value", {}), 1)).rejects.toThrow("thrown");
    await opened.clock.pass(idleMs);
    expect(first.closes).toBe(1);
  });

  it("is left on the far side before the connection is closed", async () => {
    const opened = open("accept", 0);
    const values = opened.channel.watch("value", {})[Symbol.asyncIterator]();
    await values.next();
    let followingAtClose = -1;
    const { last } = opened.link;
    last.onClose = async () => void (followingAtClose = last.following);
    await values.return?.();
    expect([last.closes, followingAtClose]).toEqual([1, 0]);
  });

  it("goes on over a connection that is going, whoever else uses it", async () => {
    const opened = open();
    const first = await connect(opened);
    let push = (_value: number): void => {};
    first.onFollow = async function* () {
      for (;;) yield await new Promise<number>((resolve) => (push = resolve));
    };
    const values = opened.channel.watch("value", {})[Symbol.asyncIterator]();
    const next = values.next();
    await settle();
    first.announce();
    await settle();
    await opened.clock.pass(idleMs);
    push(1);
    expect([await next, first.closes]).toEqual([{ done: false, value: 1 }, 0]);
    const last = values.next();
    await settle();
    void values.return?.();
    push(2);
    await last;
    await settle();
    expect([first.closes, opened.link.dials.length]).toEqual([1, 1]);
  });

  it("fails with its connection, and neither dials another nor keeps one in use", async () => {
    const opened = open();
    const { clock, link, channel } = opened;
    const first = await connect(opened);
    const [waiting, busy] = [channel.watch("value", {}), channel.watch("value", {})].map((values) =>
      values[Symbol.asyncIterator](),
    ) as [AsyncIterator<unknown>, AsyncIterator<unknown>];
    await Promise.all([waiting.next(), busy.next()]);
    const failed = outcomeOf(waiting.next());
    await settle();
    first.end(lost);
    await clock.pass(10_000);
    expect(failed.cause).toMatchObject({ code: "DISCONNECTED" });
    expect([link.dials.length, clock.size]).toEqual([1, 0]);
    await connect(opened);
    await clock.pass(idleMs);
    expect([link.dials.length, link.last.closes]).toEqual([2, 1]);
    await expect(busy.next()).rejects.toMatchObject({ code: "DISCONNECTED" });
  });

  it("waits for a connection as a read does, and lets the dial go when its consumer leaves meanwhile", async () => {
    const { clock, link, channel } = open("refuse");
    const failed = outcomeOf(channel.watch("value", {})[Symbol.asyncIterator]().next());
    await clock.pass(4999);
    expect(failed).toEqual({});
    await clock.pass(1);
    expect(failed.cause).toMatchObject({ code: "UNAVAILABLE" });
    link.answer = "hold";
    const early = channel.watch("value", {})[Symbol.asyncIterator]();
    const next = early.next();
    await settle();
    expect(link.lastDial.signal?.aborted).toBe(false);
    await early.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect([link.lastDial.signal?.aborted, clock.size]).toEqual([true, 0]);
    const late = link.lastDial.accept();
    await settle();
    expect([late.followed, late.closes]).toEqual([0, 1]);
  });

  it("starts and holds nothing when it is never iterated over", async () => {
    const { link, channel } = open();
    channel.watch("value", { signal: new AbortController().signal });
    await settle();
    expect(link.dials).toHaveLength(0);
  });
});
