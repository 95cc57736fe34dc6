import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryContext, memoryContext } from "../../../src/catalog/context/memory-context.ts";
import type { Job, MemoryContext } from "../../../src/catalog/context/memory-context.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { settle } from "../../surface/support.ts";
import { thrownBy } from "../support.ts";
import { JobsModel, type JobStep } from "./jobs-model.ts";

interface Made extends MemoryContext {
  readonly clock: ManualClock;
  readonly faults: Fault[];
}

function make(): Made {
  const clock = new ManualClock();
  const faults: Fault[] = [];
  return { ...createMemoryContext({ clock, report: (fault) => void faults.push(fault) }), clock, faults };
}

function claimed({ jobs }: MemoryContext, leaseMs?: number): Job {
  const job = jobs.claim(leaseMs);
  if (job === undefined) throw new Error("no job waits");
  return job;
}

describe("messages of a memory context (D15)", () => {
  it("reach all who listen to their topic, in order, and nobody else", () => {
    const { pubsub } = make();
    const told: string[] = [];
    pubsub.subscribe("a", (message) => void told.push(`one ${String(message)}`));
    const stop = pubsub.subscribe("a", (message) => void told.push(`two ${String(message)}`));
    pubsub.subscribe("b", () => void told.push("b"));
    pubsub.publish("a", 1);
    stop();
    stop();
    pubsub.publish("a", 2);
    pubsub.publish("nobody", 3);
    expect(told).toEqual(["one 1", "two 1", "one 2"]);
  });

  it("reach the others where a listener throws, rejects or stops another", async () => {
    const { pubsub, faults } = make();
    const told: unknown[] = [];
    pubsub.subscribe("a", () => {
      stop();
      throw new Error("mine");
    });
    const rejects: () => unknown = () => Promise.reject(new Error("mine too"));
    pubsub.subscribe("a", rejects);
    const stop = pubsub.subscribe("a", () => void told.push("stopped"));
    pubsub.subscribe("a", (message) => void told.push(message));
    pubsub.publish("a", "hello");
    await settle();
    expect(told).toEqual(["hello"]);
    expect(faults.map(({ where }) => where)).toEqual(['listener of topic "a"', 'listener of topic "a"']);
  });

  it("have at most 10,000 listeners, and room again where one has left", () => {
    const { pubsub } = make();
    const stops = Array.from({ length: 10_000 }, (_, index) => pubsub.subscribe(`topic ${index % 100}`, () => {}));
    expect(thrownBy(() => void pubsub.subscribe("more", () => {}))).toMatchObject({ code: "OVERFLOW" });
    stops[0]?.();
    stops[0]?.();
    pubsub.subscribe("more", () => {});
    expect(thrownBy(() => void pubsub.subscribe("more", () => {}))).toMatchObject({ code: "OVERFLOW" });
  });
});

describe("values of a memory context (D15)", () => {
  it("are there until they are deleted or have had their time, and no timer waits for that", async () => {
    const { kv, clock } = make();
    kv.set("stays", 1);
    kv.set("goes", 2, 1000);
    await clock.pass(999);
    expect([kv.get("goes"), kv.keys()]).toEqual([2, ["stays", "goes"]]);
    await clock.pass(1);
    expect([kv.get("goes"), kv.delete("goes"), kv.keys(), kv.get("stays")]).toEqual([undefined, false, ["stays"], 1]);
    expect([kv.delete("stays"), kv.delete("stays"), kv.get("stays")]).toEqual([true, false, undefined]);
    expect(clock.size).toBe(0);
  });

  it("live as long as was said last", async () => {
    const { kv, clock } = make();
    kv.set("a", 1, 1000);
    await clock.pass(500);
    kv.set("a", 2);
    await clock.pass(10_000);
    expect(kv.get("a")).toBe(2);
  });

  it("are found by keys that objects have by themselves, and only where they were set", () => {
    const { kv } = make();
    expect(kv.get("__proto__")).toBeUndefined();
    kv.set("__proto__", { polluted: true });
    expect([kv.get("constructor"), kv.get("__proto__"), Reflect.get({}, "polluted")]).toEqual([
      undefined,
      { polluted: true },
      undefined,
    ]);
  });

  it("are refused at 10,000 keys, other than new values of those, until some have had their time", async () => {
    const { kv, clock } = make();
    for (let index = 0; index < 10_000; index += 1) kv.set(`${index}`, index, index === 7 ? 10 : 1000);
    kv.set("0", "again", 1000);
    expect(thrownBy(() => kv.set("more", 1))).toMatchObject({ code: "OVERFLOW" });
    await clock.pass(10);
    kv.set("more", 1);
    expect(thrownBy(() => kv.set("still more", 1))).toMatchObject({ code: "OVERFLOW" });
  });

  it.each([
    ["", undefined],
    ["a".repeat(1025), undefined],
    ["a", 0],
    ["a", Number.NaN],
    ["a", Number.POSITIVE_INFINITY],
  ])("are refused under the key %j for %j ms", (key, ttlMs) => {
    expect(thrownBy(() => make().kv.set(key, 1, ttlMs))).toMatchObject({ code: "INVALID_OPTION" });
  });
});

describe("jobs of a memory context (D15)", () => {
  it("are taken on by one at a time, the one that has waited longest first", () => {
    const made = make();
    for (const id of ["a", "b"]) made.jobs.enqueue(id, { of: id });
    expect(made.jobs.waiting).toBe(2);
    expect([claimed(made), claimed(made), made.jobs.claim()]).toMatchObject([
      { id: "a", payload: { of: "a" }, attempt: 1 },
      { id: "b", payload: { of: "b" }, attempt: 1 },
      undefined,
    ]);
    expect(made.jobs.waiting).toBe(0);
  });

  it("wait again where the lease ends, and are then no matter of who held it", async () => {
    const made = make();
    made.jobs.enqueue("a", 1);
    const first = claimed(made, 1000);
    await made.clock.pass(999);
    expect(made.jobs.claim()).toBeUndefined();
    await made.clock.pass(1);
    expect([first.ack(), first.fail(), first.extend(1000)]).toEqual([false, false, false]);
    const second = claimed(made);
    expect(second.attempt).toBe(2);
    expect([first.ack(), second.ack(), second.ack(), second.fail()]).toEqual([false, true, false, false]);
    expect(made.clock.size).toBe(0);
  });

  it("have leases of 30 s by default, which their holders may make longer", async () => {
    const made = make();
    made.jobs.enqueue("a", 1);
    const job = claimed(made);
    await made.clock.pass(29_999);
    expect(job.extend(60_000)).toBe(true);
    await made.clock.pass(59_999);
    expect(made.jobs.claim()).toBeUndefined();
    expect(job.ack()).toBe(true);
  });

  it("end by the lease that ends first, whichever was taken first", async () => {
    const made = make();
    for (const id of ["a", "b"]) made.jobs.enqueue(id, id);
    claimed(made, 5000);
    claimed(made, 1000);
    await made.clock.pass(1000);
    expect(claimed(made).id).toBe("b");
    await made.clock.pass(4000);
    expect(claimed(made).id).toBe("a");
  });

  it("are added once: not while they wait, are taken on, or were done a short while ago", () => {
    const made = make();
    const add = (): boolean => made.jobs.enqueue("a", 1);
    expect([add(), add()]).toEqual([true, false]);
    const job = claimed(made);
    expect(add()).toBe(false);
    job.ack();
    expect([add(), made.jobs.waiting]).toEqual([false, 0]);
  });

  it("are forgotten when 10,000 others were done since", () => {
    const made = make();
    made.jobs.enqueue("a", 1);
    claimed(made).ack();
    for (let index = 0; index < 10_000; index += 1) {
      expect(made.jobs.enqueue("a", 1)).toBe(false);
      made.jobs.enqueue(`${index}`, 1);
      claimed(made).ack();
    }
    expect(made.jobs.enqueue("a", 1)).toBe(true);
  });

  it("are given up after five attempts, failed or left, and may then be added again", async () => {
    const made = make();
    made.jobs.enqueue("a", { n: 1 });
    made.jobs.enqueue("b", { n: 2 });
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const [a, b] = [claimed(made, 1000), claimed(made, 1000)];
      expect([a.id, a.attempt, b.id, b.attempt]).toEqual(["a", attempt, "b", attempt]);
      a.fail(`no ${attempt}`);
      await made.clock.pass(1000);
    }
    expect([made.jobs.claim(), made.jobs.waiting]).toEqual([undefined, 0]);
    expect(made.jobs.dead()).toEqual([
      { id: "a", payload: { n: 1 }, attempts: 5, reason: "no 5" },
      { id: "b", payload: { n: 2 }, attempts: 5, reason: undefined },
    ]);
    expect(made.jobs.enqueue("a", { n: 3 })).toBe(true);
    expect(made.jobs.dead().map(({ id }) => id)).toEqual(["b"]);
    expect(claimed(made)).toMatchObject({ attempt: 1, payload: { n: 3 } });
  });

  it("keep the last 1,000 that were given up", () => {
    const made = make();
    for (let index = 0; index < 1001; index += 1) {
      made.jobs.enqueue(`${index}`, 1);
      for (let attempt = 0; attempt < 5; attempt += 1) claimed(made).fail();
    }
    const dead = made.jobs.dead();
    expect([dead.length, dead[0]?.id, dead.at(-1)?.id]).toEqual([1000, "1", "1000"]);
  });

  it("are refused at 10,000 that wait or are taken on", () => {
    const made = make();
    for (let index = 0; index < 10_000; index += 1) made.jobs.enqueue(`${index}`, index);
    const job = claimed(made);
    expect(thrownBy(() => void made.jobs.enqueue("more", 1))).toMatchObject({ code: "OVERFLOW" });
    job.ack();
    expect(made.jobs.enqueue("more", 1)).toBe(true);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("are refused for %j ms", (leaseMs) => {
    const made = make();
    made.jobs.enqueue("a", 1);
    expect(thrownBy(() => void made.jobs.claim(leaseMs))).toMatchObject({ code: "INVALID_OPTION" });
    const job = claimed(made);
    expect(thrownBy(() => void job.extend(leaseMs))).toMatchObject({ code: "INVALID_OPTION" });
    expect(job.ack()).toBe(true);
  });

  it("are each held by one, done once, and never lost, whatever workers do", () => {
    const step: fc.Arbitrary<JobStep> = fc.oneof(
      fc.record({ kind: fc.constant("enqueue" as const), id: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ kind: fc.constant("claim" as const), leaseMs: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constantFrom("ack" as const, "fail" as const, "extend" as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 20 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const model = new JobsModel();
        for (const one of steps) model.run(one);
        model.end();
        expect(model.wrong).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("memoryContext()", () => {
  it("makes one that shares nothing with another (D15)", () => {
    const [one, other] = [memoryContext(), memoryContext()];
    one.kv.set("a", 1);
    one.jobs.enqueue("a", 1);
    one.pubsub.subscribe("a", () => expect.unreachable());
    other.pubsub.publish("a", 1);
    expect([other.kv.get("a"), other.jobs.waiting]).toEqual([undefined, 0]);
  });
});
