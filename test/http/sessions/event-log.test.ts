import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventLog, type EventLogDeps, type EventStream } from "../../../src/http/sessions/event-log.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { KeepAlive } from "../../../src/http/sse.ts";
import { Budget } from "../../../src/spine/budget.ts";
import { ManualClock } from "../../links/manual-clock.ts";

const wide = { maxMessages: 1000, maxBytes: 1e6, maxSentBytes: 1e6 };

const create = (total: number): Budget => new Budget({ total, perKey: total / 4 });

function open(bounds: Partial<EventLogDeps> = {}, budget = create(1e9), owner?: string): EventLog {
  const caller = owner === undefined ? anonymous : { ...anonymous, id: owner, isAnonymous: false };
  return new EventLog({ ...wide, budget, caller, ...bounds });
}

const clock = new ManualClock();
const http = { clock, keepAlive: new KeepAlive(clock, 0), bounds: { stallMs: 1000 } };
const ignore = (): void => {};

/** Opens a stream that no client reads. */
function openStream(log: EventLog): EventStream {
  return log.open({ http, log, tag: "0123456789ab", primes: false, changed: ignore, missed: ignore });
}

/** Has a call answered; `isSent`: somebody reads the answer. */
function answer(log: EventLog, json: string, { isSent }: { readonly isSent: boolean }): EventStream {
  const stream = openStream(log);
  stream.isFinished = true;
  log.add(stream, { json });
  if (isSent) log.markSent(stream, 1);
  log.trim();
  return stream;
}

function textsOf({ messages }: EventStream): string[] {
  return messages.map(({ json }) => json);
}

/** A log whose streams are opened, written, read and ended at random. */
class DrivenLog {
  readonly log: EventLog;
  readonly #streams: EventStream[];

  constructor(log: EventLog) {
    this.log = log;
    this.#streams = [openStream(log)];
  }

  get kept(): EventStream["messages"] {
    return [...this.log.streams.values()].flatMap(({ messages }) => messages);
  }

  take(kind: "add" | "sent" | "finish" | "open", at: number, size: number): void {
    const stream = this.#streams[at % this.#streams.length];
    if (kind === "open") this.#streams.push(openStream(this.log));
    if (stream === undefined || stream.isFinished) return;
    if (kind === "add") this.log.add(stream, { json: "x".repeat(size) });
    if (kind === "finish") stream.isFinished = true;
    if (kind === "finish") this.log.forgetEmpty(stream);
    if (kind === "sent") this.log.markSent(stream, Math.min(stream.last, stream.sent + 2));
    this.log.trim();
  }
}

describe("EventLog", () => {
  it("drops waiting messages before results, and reports whose unsent message was dropped", () => {
    const log = open({ maxMessages: 4, maxBytes: 100 });
    const notices = openStream(log);
    const dropped: number[] = [];
    const call = answer(log, "result", { isSent: false });
    for (let at = 0; at < 6; at += 1) {
      log.add(notices, { json: `notice ${at}`, onDropped: () => void dropped.push(at) });
      log.trim();
    }
    expect(log.count).toBe(4);
    expect(dropped).toEqual([0, 1, 2]);
    expect(log.dropped).toBe(3);
    expect(textsOf(call)).toEqual(["result"]);
    log.clear();
    expect(dropped).toEqual([0, 1, 2, 3, 4, 5]);
    expect(log.count).toBe(0);
  });

  it("keeps a single message larger than its bound, and no other", () => {
    const log = open({ maxBytes: 100 });
    const call = answer(log, "result", { isSent: false });
    const large = answer(log, "x".repeat(101), { isSent: false });
    expect([textsOf(call), large.at(1)?.bytes, log.count]).toEqual([[], 101, 1]);
    expect(log.find(call.number)).toBe("gone");
    expect(log.find(7)).toBeUndefined();
  });

  it("counts bytes, not characters", () => {
    const log = open({ maxBytes: 9 });
    for (const json of ["ééé", "ééé"]) answer(log, json, { isSent: false });
    expect([log.count, log.dropped]).toEqual([1, 1]);
  });

  it("drops the oldest of results that wait", () => {
    const log = open({ maxMessages: 4 });
    const calls = Array.from({ length: 6 }, () => answer(log, "result", { isSent: false }));
    expect(calls.map((call) => call.messages.length)).toEqual([0, 0, 1, 1, 1, 1]);
    expect(log.dropped).toBe(2);
  });

  it("drops waiting messages of the stream with the most, so that a flood costs no other stream any", () => {
    const log = open({ maxMessages: 10 });
    const [notices, call] = [openStream(log), openStream(log)];
    log.add(notices, { json: "question" });
    for (let at = 0; at < 50; at += 1) {
      log.add(call, { json: `step ${at}` });
      log.trim();
    }
    expect([textsOf(notices), call.messages.length, log.dropped]).toEqual([["question"], 9, 41]);
  });

  it("counts its messages in any order of messages, results, readers and evictions", () => {
    const kinds = ["add", "sent", "finish", "open"] as const;
    const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(5), fc.nat(40));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const budget = create(400);
        const small = new DrivenLog(open({ maxMessages: 6, maxSentBytes: 60 }, budget, "a"));
        const large = new DrivenLog(open({}, budget, "b"));
        for (const [kind, at, size] of steps) {
          (at % 2 === 0 ? small : large).take(kind, at, size);
          const kept = [...small.kept, ...large.kept];
          expect(small.log.count + large.log.count).toBe(kept.length);
          expect(budget.use.used).toBe(kept.reduce((sum, { bytes }) => sum + bytes, 0));
          expect(small.log.count).toBeLessThanOrEqual(6);
        }
        for (const { log } of [small, large]) log.clear();
        expect([budget.use.used, small.log.count, large.log.count]).toEqual([0, 0, 0]);
      }),
    );
  });

  it("drops sent messages before waiting ones, by number and by size", () => {
    for (const bounds of [{ maxMessages: 10 }, { maxBytes: 1000 }]) {
      const log = open(bounds);
      const unread = answer(log, "unread", { isSent: false });
      const notices = openStream(log);
      log.add(notices, { json: "notice" });
      for (let at = 0; at < 50; at += 1) answer(log, "r".repeat(100), { isSent: true });
      expect([textsOf(unread), textsOf(notices)]).toEqual([["unread"], ["notice"]]);
      expect(log.dropped).toBe(0);
    }
  });

  it("keeps a bounded number of sent messages, and the last one of any size", () => {
    const log = open({ maxSentBytes: 250 });
    const calls = Array.from({ length: 5 }, () => answer(log, "r".repeat(100), { isSent: true }));
    expect(calls.map((call) => call.messages.length)).toEqual([0, 0, 0, 1, 1]);
    const large = answer(log, "r".repeat(300), { isSent: true });
    expect([large.messages.length, log.count, log.dropped]).toEqual([1, 1, 0]);
  });

  it("counts a message as sent even if its reader resumes from before it", () => {
    const log = open({ maxMessages: 2 });
    const notices = openStream(log);
    for (const json of ["1", "2"]) log.add(notices, { json });
    log.markSent(notices, 2);
    log.markSent(notices, 0);
    for (const json of ["3", "4"]) log.add(notices, { json });
    log.trim();
    expect([textsOf(notices), log.dropped]).toEqual([["3", "4"], 0]);
  });
});

describe("the logs of all sessions", () => {
  it("drop sent messages first, then waiting ones, of the session that was idle the longest", () => {
    const budget = create(1000);
    const [first, second, third] = [open({}, budget), open({}, budget), open({}, budget)];
    const waiting = answer(first, "w".repeat(400), { isSent: false });
    const sent = answer(second, "s".repeat(400), { isSent: true });
    const newest = answer(third, "n".repeat(400), { isSent: false });
    expect([waiting, sent, newest].map(({ messages }) => messages.length)).toEqual([1, 0, 1]);
    expect(budget.use.used).toBe(800);
    answer(second, "s".repeat(400), { isSent: false });
    expect([waiting, newest].map(({ messages }) => messages.length)).toEqual([0, 1]);
    expect([first.dropped, second.dropped]).toEqual([1, 0]);
    for (const log of [first, second, third]) log.clear();
    expect(budget.use.used).toBe(0);
  });

  it("give one known caller a quarter, and take nothing from another caller for it", () => {
    const budget = create(1000);
    const [one, two] = [open({}, budget, "alice"), open({}, budget, "alice")];
    const [other, unknown] = [open({}, budget, "bob"), open({}, budget)];
    const kept = [other, unknown].map((log) => answer(log, "k".repeat(200), { isSent: true }));
    const before = answer(one, "b".repeat(200), { isSent: false });
    const after = answer(two, "a".repeat(200), { isSent: false });
    expect([before, after, ...kept].map(({ messages }) => messages.length)).toEqual([0, 1, 1, 1]);
  });
});
