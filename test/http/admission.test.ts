import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { Admission, isRefused, type AdmissionBounds, type Permit } from "../../src/http/admission.ts";
import type { CallQueue, QueuedCall, TurnQueues } from "../../src/mcp/dispatcher.ts";
import type { OverBudget } from "../../src/spine/budget.ts";

const bounds: AdmissionBounds = {
  maxInFlight: 2,
  maxStreamsPerPrincipal: 2,
  maxStreams: 5,
  maxSessionsPerPrincipal: 1,
  maxSessions: 3,
};

function caller(id: string): Caller {
  return { id, isAnonymous: false, scopes: [] };
}

const alice = caller("alice");
const bob = caller("bob");

/** Whose request it is, and whether its answer is not read at once. */
interface Holder {
  readonly caller: Caller;
  readonly session?: TurnQueues | undefined;
  readonly isUnread?: boolean;
}

/** Takes turns, and remembers which of them were started and what ends them. */
function turns(admission = new Admission(bounds)) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    admission,
    started,
    end: (name: string) => ends.get(name)?.(),
    take: (name: string, { caller: who, session, isUnread }: Holder, turn: "calls" | "reads" = "calls") => {
      const queue = admission.queueOf(turn, who, session);
      const start = (): void => {
        started.push(name);
        ends.set(name, () => queue.done(isUnread));
      };
      return enqueue(queue, { start });
    },
  };
}

/** Adds a request to a queue. Returns what takes it back, or `undefined` if it is refused. */
function enqueue(queue: CallQueue, call: QueuedCall): (() => boolean) | undefined {
  return queue.add(call) ? () => queue.withdraw(call) : undefined;
}

function permitOf(permit: Permit | OverBudget): Permit {
  if (isRefused(permit)) throw new Error("there was no place");
  return permit;
}

/** Somebody who asks, ends and takes back. */
function guest(admission: Admission, who: Caller) {
  const running: (() => void)[] = [];
  const withdrawals: (() => boolean)[] = [];
  return {
    running,
    take: () => {
      const queue = admission.queueOf("calls", who);
      const withdraw = enqueue(queue, { start: () => void running.push(() => queue.done()) });
      if (withdraw !== undefined) withdrawals.push(withdraw);
    },
    end: () => running.shift()?.(),
    withdraw: () => withdrawals.pop()?.(),
  };
}

describe("Admission", () => {
  it("starts up to the limit of one caller's requests at once, and the next when one ends", () => {
    const { started, take, end } = turns();
    for (const name of ["1", "2", "3", "4"]) take(name, { caller: alice });
    expect(started).toEqual(["1", "2"]);
    end("1");
    expect(started).toEqual(["1", "2", "3"]);
  });

  it("starts the next of a caller in another turn of the event loop when an answer was not taken at once", async () => {
    const { started, take, end } = turns();
    const large = { caller: alice, isUnread: true };
    for (const name of ["1", "2", "3", "4", "5", "6"]) take(name, large);
    for (const name of ["1", "2"]) end(name);
    take("other", { caller: bob });
    expect(started).toEqual(["1", "2", "other"]);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(started).toEqual(["1", "2", "other", "3"]);
    await turn();
    expect(started).toEqual(["1", "2", "other", "3", "4"]);
    await turn();
    for (const name of ["3", "4"]) end(name);
    await turn();
    expect(started.slice(5)).toEqual(["5"]);
    await turn();
    expect(started.slice(5)).toEqual(["5", "6"]);
  });

  it("starts a caller's request at once when another caller has filled their permits", () => {
    const { started, take } = turns();
    for (let index = 0; index < 300; index += 1) take("alice", { caller: alice });
    take("bob", { caller: bob });
    expect(started).toEqual(["alice", "alice", "bob"]);
  });

  it("starts a read at once when calls wait", () => {
    const { started, take } = turns();
    for (const name of ["1", "2", "3"]) take(name, { caller: alice });
    take("read", { caller: alice }, "reads");
    expect(started).toEqual(["1", "2", "read"]);
  });

  it("refuses the 257th waiting request of one caller, and no other caller's", () => {
    const { take } = turns();
    for (let index = 0; index < 2 + 256; index += 1) expect(take("a", { caller: alice })).toBeDefined();
    expect(take("a", { caller: alice })).toBeUndefined();
    expect(take("b", { caller: bob })).toBeDefined();
  });

  it("never starts a cancelled request, and returns whether it still waited", () => {
    const { started, take, end } = turns();
    const first = take("1", { caller: alice });
    take("2", { caller: alice });
    const third = take("3", { caller: alice });
    expect(first?.()).toBe(false);
    expect(third?.()).toBe(true);
    expect(third?.()).toBe(false);
    end("1");
    end("2");
    expect(started).toEqual(["1", "2"]);
  });

  it("gives each anonymous session its own permits, and all requests without a session common ones", () => {
    const { admission, started, take } = turns();
    for (const name of ["s", "t", "none"]) {
      const session = name === "none" ? undefined : admission.openQueues(anonymous);
      for (let index = 0; index < 3; index += 1) take(name, { caller: anonymous, session });
    }
    expect(started).toEqual(["s", "s", "t", "t", "none", "none"]);
  });

  it("counts all sessions of one known caller together", () => {
    const { admission, started, take } = turns();
    for (const name of ["s", "t", "u"]) take(name, { caller: alice, session: admission.openQueues(alice) });
    expect(started).toEqual(["s", "t"]);
  });

  it("keeps a known caller apart from anonymous callers when their id looks anonymous", () => {
    const { admission, started, take } = turns();
    const session = admission.openQueues(anonymous);
    const holders: Holder[] = [{ caller: anonymous }, { caller: anonymous, session }];
    for (const id of ["anonymous", "s", "session s"]) holders.push({ caller: caller(id) });
    for (const holder of holders) for (let index = 0; index < 3; index += 1) take("one", holder);
    expect(started).toHaveLength(holders.length * 2);
  });

  it("refuses a stream at the limit of its caller and at the limit of all callers", () => {
    const admission = new Admission(bounds);
    permitOf(admission.openStream(alice));
    permitOf(admission.openStream(alice));
    expect(admission.openStream(alice)).toEqual({ scope: "principal", limit: 2 });
    for (let index = 0; index < 3; index += 1) permitOf(admission.openStream(anonymous));
    expect(admission.openStream(bob)).toEqual({ scope: "global", limit: 5 });
    expect(admission.counts).toEqual({ streams: 5, sessions: 0 });
  });

  it("refuses a session at the limit of its caller and at the limit of all callers", () => {
    const admission = new Admission(bounds);
    permitOf(admission.openSession(alice));
    expect(admission.openSession(alice)).toEqual({ scope: "principal", limit: 1 });
    permitOf(admission.openSession(anonymous));
    permitOf(admission.openSession(anonymous));
    expect(admission.openSession(anonymous)).toEqual({ scope: "global", limit: 3 });
    expect(admission.counts).toEqual({ streams: 0, sessions: 3 });
  });

  it("returns a permit once when it is released twice", () => {
    const admission = new Admission(bounds);
    const first = permitOf(admission.openStream(alice));
    permitOf(admission.openStream(alice));
    first.release();
    first.release();
    expect(admission.counts.streams).toBe(1);
    permitOf(admission.openStream(alice));
    expect(isRefused(admission.openStream(alice))).toBe(true);
  });

  it("never exceeds a caller's limit, and ends empty, for any order of arrivals and releases", () => {
    const step = record({ who: integer({ min: 0, max: 3 }), does: constantFrom("take", "end", "withdraw") });
    assert(
      property(array(step, { maxLength: 200 }), (steps) => {
        const admission = new Admission(bounds);
        const crowd = [0, 1, 2, 3].map((who) => guest(admission, caller(String(who))));
        for (const { who, does } of steps) {
          crowd[who]?.[does]();
          expect(crowd[who]?.running.length).toBeLessThanOrEqual(bounds.maxInFlight);
        }
        for (const one of crowd) while (one.running.length > 0) one.end();
        for (const one of crowd) one.take();
        expect(crowd.map((one) => one.running.length)).toEqual([1, 1, 1, 1]);
      }),
    );
  });

  it("keeps nothing of 100,000 callers after they have left", () => {
    const admission = new Admission(bounds);
    const visit = (index: number): void => {
      const one = caller(`caller ${index}`);
      for (const turn of ["calls", "reads"] as const) {
        const queue = admission.queueOf(turn, one);
        enqueue(queue, { start: () => queue.done() });
      }
      permitOf(admission.openStream(one)).release();
      permitOf(admission.openSession(one)).release();
    };
    // What is kept is kept in maps, and the first who comes shows in which.
    const spy = vi.spyOn(Map.prototype, "set");
    visit(0);
    const kept = new Set(spy.mock.contexts.filter((one: unknown) => one instanceof Map));
    spy.mockRestore();
    for (let index = 1; index < 100_000; index += 1) visit(index);
    expect(kept.size).toBeGreaterThanOrEqual(4);
    expect([...kept].filter((map) => map.size > 0)).toEqual([]);
  });
});
