import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { assertMilliseconds, assertText, type DeadJob, type Job, type Jobs } from "./memory-context.ts";
import { setNewest } from "../../spine/collections.ts";

/** How many wait or are taken on at most. */
const maxJobs = 10_000;

/** How many are known that were done. */
const maxDone = 10_000;

/** How many are kept that were given up. */
const maxDead = 1000;

/** How often a job is taken on before it is given up. */
const maxAttempts = 5;

const defaultLeaseMs = 30_000;

/** A job as its queue keeps it. */
interface HeldJob {
  readonly id: string;
  readonly payload: unknown;
  /** How often it was taken on. */
  attempts: number;
  /** Why it failed last; `undefined` where its lease ended. */
  reason: string | undefined;
  /** When its lease ends. */
  until: number;
}

/** A job in the hands of whoever took it on. */
class ClaimedJob implements Job {
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly #held: HeldJob;
  readonly #keeper: MemoryJobs;

  constructor(held: HeldJob, keeper: MemoryJobs) {
    this.id = held.id;
    this.payload = held.payload;
    this.attempt = held.attempts;
    this.#held = held;
    this.#keeper = keeper;
  }

  ack(): boolean {
    return this.#mine((held) => this.#keeper.finish(held));
  }

  fail(reason?: string): boolean {
    return this.#mine((held) => this.#keeper.giveBack(held, reason));
  }

  extend(leaseMs: number): boolean {
    return this.#mine((held) => this.#keeper.extend(held, leaseMs));
  }

  #mine(run: (held: HeldJob) => void): boolean {
    if (!this.#keeper.holds(this.#held, this.attempt)) return false;
    run(this.#held);
    return true;
  }
}

/**
 * Work in memory. A lease ends when somebody looks at what there is to do, and by no timer: until then nobody could take on
 * what it holds.
 */
export class MemoryJobs implements Jobs {
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<string, HeldJob>();
  readonly #taken = new Map<string, HeldJob>();
  /** The ids of what was done, the oldest first. */
  readonly #done = new Map<string, true>();
  readonly #dead = new Map<string, DeadJob>();
  readonly #clock: Clock;
  /** No lease ends before. */
  #firstEnd = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    this.#endLeases();
    return this.#waiting.size;
  }

  enqueue(id: string, payload: unknown): boolean {
    assertText(id, "Adding a job", "its id");
    this.#endLeases();
    if (this.#waiting.has(id) || this.#taken.has(id) || this.#done.has(id)) return false;
    if (this.#waiting.size + this.#taken.size >= maxJobs) {
      throw new SurfaceError("OVERFLOW", `Adding job "${id}": ${maxJobs} are to be done already`);
    }
    // Somebody gives it another chance.
    this.#dead.delete(id);
    this.#waiting.set(id, { id, payload, attempts: 0, reason: undefined, until: 0 });
    return true;
  }

  claim(leaseMs: number = defaultLeaseMs): Job | undefined {
    assertMilliseconds(leaseMs, "Taking on a job", "its lease");
    this.#endLeases();
    const [held] = this.#waiting.values();
    if (held === undefined) return undefined;
    this.#waiting.delete(held.id);
    this.#taken.set(held.id, held);
    held.attempts += 1;
    this.#lease(held, leaseMs);
    return new ClaimedJob(held, this);
  }

  dead(): readonly DeadJob[] {
    this.#endLeases();
    return Object.freeze([...this.#dead.values()]);
  }

  /** Returns whether a job still belongs to that attempt. */
  holds(held: HeldJob, attempt: number): boolean {
    this.#endLeases();
    return this.#taken.get(held.id) === held && held.attempts === attempt;
  }

  /** Keeps the id of a job that is done. */
  finish(held: HeldJob): void {
    this.#taken.delete(held.id);
    setNewest(this.#done, [held.id, true], maxDone);
  }

  /** Has a job wait again, or gives it up after the last attempt. */
  giveBack(held: HeldJob, reason: string | undefined): void {
    this.#taken.delete(held.id);
    held.reason = reason;
    if (held.attempts < maxAttempts) this.#waiting.set(held.id, held);
    else this.#bury(held);
  }

  /** Lets a lease end later. @throws SurfaceError `INVALID_OPTION`. */
  extend(held: HeldJob, leaseMs: number): void {
    assertMilliseconds(leaseMs, `Holding job "${held.id}"`, "its lease");
    this.#lease(held, leaseMs);
  }

  #lease(held: HeldJob, leaseMs: number): void {
    held.until = this.#clock.now() + leaseMs;
    this.#firstEnd = Math.min(this.#firstEnd, held.until);
  }

  /** Looks at all that is taken on only where a lease may have ended. */
  #endLeases(): void {
    const now = this.#clock.now();
    if (now < this.#firstEnd) return;
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const held of [...this.#taken.values()]) {
      if (held.until <= now) this.giveBack(held, undefined);
      else this.#firstEnd = Math.min(this.#firstEnd, held.until);
    }
  }

  #bury({ id, payload, attempts, reason }: HeldJob): void {
    setNewest(this.#dead, [id, Object.freeze({ id, payload, attempts, reason })], maxDead);
  }
}
