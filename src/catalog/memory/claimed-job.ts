import type { Job } from "./memory-context.ts";

/** A job as its queue keeps it. */
export interface HeldJob {
  readonly id: string;
  readonly payload: unknown;
  /** How often it was taken on. */
  attempts: number;
  /** Why it failed last; `undefined` where its lease ended. */
  reason: string | undefined;
  /** When its lease ends. */
  until: number;
}

/** What knows whose a job is. */
export interface LeaseKeeper {
  /** Whether a job is still whose attempt that was. */
  holds(held: HeldJob, attempt: number): boolean;
  finish(held: HeldJob): void;
  giveBack(held: HeldJob, reason: string | undefined): void;
  /** @throws SurfaceError `INVALID_OPTION`. */
  extend(held: HeldJob, leaseMs: number): void;
}

/** A job in the hands of whoever took it on. */
export class ClaimedJob implements Job {
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly #held: HeldJob;
  readonly #keeper: LeaseKeeper;

  constructor(held: HeldJob, keeper: LeaseKeeper) {
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
