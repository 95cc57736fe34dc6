import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anonymous } from "../../../src/surface/caller.ts";
import { KeepAlive } from "../../../src/http/sse.ts";
import {
  EventLog,
  type EventStream,
  missedNotice,
  createEventTag,
  readEventId,
} from "../../../src/http/sessions/event-log.ts";
import { Budget } from "../../../src/spine/budget.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { FakeSink } from "./session-harness.ts";

/** Something is said, the connection is cut with so many events lost on the way, the client is back, or reads so much. */
type Step =
  | { readonly kind: "say" }
  | { readonly kind: "cut"; readonly lost: number }
  | { readonly kind: "resume"; readonly room: number }
  | { readonly kind: "read"; readonly room: number };

const room = fc.integer({ min: 1, max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "say" } as const) },
  fc.record({ kind: fc.constant("cut" as const), lost: fc.nat(3) }),
  fc.record({ kind: fc.constant("resume" as const), room }),
  fc.record({ kind: fc.constant("read" as const), room }),
);

/** One stream and a client that remembers the last event that it has read, as clients do. */
class Run {
  readonly #log: EventLog;
  readonly #stream: EventStream;
  readonly #tag = createEventTag();
  #sink: FakeSink | undefined;
  #lastId: string | undefined;
  #said = 0;
  readonly read: string[] = [];
  readonly seen = new Set<string>();
  /** An id came twice. */
  isRepeated = false;

  constructor(maxMessages: number) {
    const clock = new ManualClock();
    const budget = new Budget({ total: 1e9, perKey: 1e9 });
    const log = new EventLog({ maxMessages, maxBytes: 1e6, maxSentBytes: 1e6, budget, caller: anonymous });
    this.#log = log;
    const http = { clock, keepAlive: new KeepAlive(clock, 0), bounds: { stallMs: 1000 } };
    const ignore = (): void => {};
    const owner = {
      http,
      log,
      tag: this.#tag,
      primes: true,
      changed: ignore,
      missed: ignore,
    };
    this.#stream = log.open(owner);
    this.resume(Infinity);
  }

  take(next: Step): void {
    if (next.kind === "say") this.say();
    else if (next.kind === "cut") this.cut(next.lost);
    else if (next.kind === "resume") this.resume(next.room);
    else this.#sink?.drain(next.room);
  }

  say(): void {
    this.#said += 1;
    this.#log.add(this.#stream, { json: JSON.stringify({ n: this.#said }) });
    this.#stream.flush();
    this.#log.trim();
  }

  /** The last few that were written never reach the client. */
  cut(lost: number): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    this.#sink = undefined;
    this.#stream.lost(sink);
    const all = sink.events;
    for (const { id = "", data } of all.slice(0, Math.max(0, all.length - lost))) {
      this.#lastId = id;
      if (data === undefined) continue;
      this.isRepeated ||= this.seen.has(id);
      this.seen.add(id);
      this.read.push("n" in data ? String(data["n"]) : "missed");
    }
  }

  resume(space: number): void {
    if (this.#sink !== undefined) this.cut(0);
    const after = this.#lastId === undefined ? undefined : readEventId(this.#tag, this.#lastId)?.seq;
    const sink = new FakeSink();
    sink.room = space;
    this.#sink = sink;
    this.#stream.attach({ sink, after, caller: anonymous });
  }

  /** The client is back for good and reads everything. */
  end(): number {
    this.resume(Infinity);
    this.cut(0);
    return this.#said;
  }
}

describe("EventStream", () => {
  it("sends each message once and in order, for any cuts and resumptions", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (all) => {
        const run = new Run(1000);
        for (const next of all) run.take(next);
        const said = run.end();
        expect(run.isRepeated).toBe(false);
        // Who lost even the first id begins anew: what they missed before was sent to nobody they can name.
        const begun = Number(run.read[0] ?? said + 1);
        expect(run.read).toEqual(Array.from({ length: said + 1 - begun }, (_, at) => String(begun + at)));
      }),
      { numRuns: 500 },
    );
  });

  it("reports missed events wherever it omits some, and sends the rest once and in order", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (all, kept) => {
        const run = new Run(kept);
        for (const next of all) run.take(next);
        run.end();
        expect(run.isRepeated).toBe(false);
        const numbers = run.read.map(Number);
        expect(numbers.filter((number) => !Number.isNaN(number))).toEqual(
          [...new Set(numbers)].filter((number) => !Number.isNaN(number)).toSorted((left, right) => left - right),
        );
        // What was missed stands in for whatever is left out, and nothing else is.
        const gaps = numbers.filter(
          (number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) + 1 && !Number.isNaN(number),
        );
        expect(gaps.every((number) => Number.isNaN(numbers[numbers.indexOf(number) - 1]))).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(JSON.parse(missedNotice)).toMatchObject({ method: "notifications/resources/list_changed" });
  });
});
