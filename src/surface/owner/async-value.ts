import { SurfaceError } from "../../errors.ts";
import { isObjectOrFunction } from "../../options/is-object.ts";
import type { Schema } from "../../schema/standard.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { Scope } from "../../spine/scope.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import { internalError } from "../fault.ts";
import { InvalidFrame, NotModified, type PushedFrame, type Reading, type Staleness } from "../reading.ts";
import { FaultDeduplicator, staleReasonOf } from "./first-faults.ts";
import { createCheckOnce } from "./latest-iterator.ts";
import type { Upstream } from "./upstream.ts";
import { stepsPerTurn, nextTurn, RestartBackoff, WaitQueue } from "./waiting.ts";

/** Returns an item as a frame. @throws SurfaceError `INVALID_OUTPUT` for any other item, and for a frame that could not be made. */
function readFrame(item: unknown): Exclude<PushedFrame<unknown>, InvalidFrame> {
  if (item instanceof InvalidFrame) throw item.cause;
  if (item instanceof NotModified) return item;
  if (isObjectOrFunction(item) && "value" in item) return item;
  throw new SurfaceError("INVALID_OUTPUT", "Cannot read a pushed source: its item is not a reading");
}

function isSame(left: Reading, right: Reading): boolean {
  if (!Object.is(left.value, right.value)) return false;
  return left.stale?.reason === right.stale?.reason && left.stale?.since === right.stale?.since;
}

function toReadingOf(value: unknown, stale: Staleness | undefined): Reading {
  return { value, ...(stale && { stale }) };
}

function timeNow(): string {
  return new Date().toISOString();
}

/**
 * A value that arrives asynchronously: the last one that fitted its schema, stale while no newer one can come. Readers share one iteration.
 */
export class AsyncValue {
  readonly changes: WaitQueue = new WaitQueue();
  readonly #upstream: Upstream;
  readonly #where: OutputCheck;
  readonly #scope: Scope;
  readonly #check: (raw: unknown) => unknown;
  /** Of single reads, so that they do not make the watched value be checked again. */
  readonly #checkOnce: (raw: unknown) => unknown;
  readonly #faults: FaultDeduplicator;
  readonly #restarts: RestartBackoff;
  #users = 0;
  #running: OwnedIterator<unknown> | undefined;
  #isFinished = false;
  #last: Reading | undefined;
  #shown: Reading | undefined;
  #failure: Error | undefined;
  /** Whether the next value is a change even if it equals the one before. */
  #isRenewed = false;
  /** Time since when there has been no good value. */
  #since: string | undefined;
  /** Time until when the last value was known to be the newest, while it has no readers. */
  #knownUntil: string | undefined;

  constructor(schema: Schema, upstream: Upstream, deps: OutputCheck & { readonly scope: Scope }) {
    const { where, scope } = deps;
    this.#upstream = upstream;
    this.#where = deps;
    this.#scope = scope;
    this.#faults = new FaultDeduplicator(deps);
    const check = { where, report: this.#faults.report };
    this.#check = createCheckOnce((raw) => checkOutput(schema, raw, check));
    this.#checkOnce = createCheckOnce((raw) => checkOutput(schema, raw, check));
    this.#restarts = new RestartBackoff(scope, () => this.#retry());
  }

  /** The reading for clients, the same object while nothing has changed; `undefined` until upstream has answered or failed. */
  get shown(): Reading | undefined {
    return this.#shown;
  }

  /** The error for readers who would otherwise wait for a value that does not come. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Returns true if the iteration of its readers cannot reach upstream, so that a reader must not wait for another attempt. */
  get isLost(): boolean {
    if (this.isResting) return false;
    if (this.#shown !== undefined) return this.#shown.stale?.reason === "lost";
    return this.#failure !== undefined && staleReasonOf(this.#failure) === "lost";
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Returns true if it has no readers, and upstream can be opened. */
  get isResting(): boolean {
    return this.#users === 0 && !this.#isFinished;
  }

  /** Adds a reader. Returns a function that removes it, and resolves when the iteration without readers has ended. */
  hold(): () => Promise<void> {
    this.#users += 1;
    if (this.#users === 1 && !this.#isFinished && this.#running === undefined) {
      // The value from before is shown only if upstream has nothing newer.
      this.#shown = undefined;
      this.#start();
    }
    return async () => {
      this.#users -= 1;
      if (this.#users === 0) await this.#leaveUpstream();
    };
  }

  renew(): void {
    this.#isRenewed = true;
  }

  /** Returns the reading of a single read, for its reader alone: the iteration may be newer. @throws the masked error. */
  async readOnce(item: unknown): Promise<Reading | undefined> {
    try {
      const frame = readFrame(item);
      if (frame instanceof NotModified) return this.#last && toReadingOf(this.#last.value, frame.stale);
      const reading = toReadingOf(await this.#checkOnce(frame.value), frame.stale);
      if (frame.stale === undefined) this.#faults.clear();
      if (!this.isResting) return reading;
      // Kept for the time when upstream is lost.
      this.#last = reading;
      this.#since = undefined;
      this.#knownUntil = timeNow();
      return reading;
    } catch (cause) {
      return this.failOnce("invalid", cause);
    }
  }

  /** Returns the last good value, marked stale, after a single read has failed. @throws the masked error if no value was good. */
  failOnce(reason: "invalid" | "lost", cause: unknown): Reading {
    const error = this.#faults.mask(cause);
    if (this.#last === undefined) throw error;
    return toReadingOf(this.#last.value, { reason, since: this.#since ?? this.#staleSince() });
  }

  createAbsent(): SurfaceError {
    return new SurfaceError("ABSENT", `Cannot read ${this.#where.where}: it ended without a value`);
  }

  /** Takes a frame of an iteration, unless that has ended once the frame is checked. Never rejects. */
  async #take(item: unknown, isCurrent: () => boolean): Promise<void> {
    let frame: ReturnType<typeof readFrame>;
    let value: unknown;
    try {
      frame = readFrame(item);
      if (!(frame instanceof NotModified)) value = this.#check(frame.value);
      if (value instanceof Promise) value = await value;
    } catch (cause) {
      if (isCurrent()) this.#fail("invalid", cause);
      return;
    }
    if (!isCurrent()) return;
    if (!(frame instanceof NotModified)) this.#last = { value };
    this.#accept(frame.stale);
  }

  /** Marks the value as stale: upstream failed, ended, or sent a value that does not fit. Never throws. */
  #fail(reason: Staleness["reason"], cause?: unknown): void {
    const error = reason === "ended" ? this.createAbsent() : this.#faults.mask(cause);
    this.#since ??= this.#staleSince();
    if (this.#last === undefined) this.#failure = error;
    else this.#show({ value: this.#last.value, stale: { reason, since: this.#since } });
  }

  /** Shows the last value. Upstream is reachable, whether or not there is one. */
  #accept(stale: Staleness | undefined): void {
    this.#since = undefined;
    this.#failure = undefined;
    this.#knownUntil = undefined;
    if (stale === undefined) this.#faults.clear();
    if (this.#last === undefined) return;
    this.#last = toReadingOf(this.#last.value, stale);
    this.#show(this.#last);
  }

  #show(reading: Reading): void {
    if (this.#shown !== undefined && !this.#isRenewed && isSame(this.#shown, reading)) return;
    this.#isRenewed = false;
    this.#shown = reading;
  }

  #staleSince(): string {
    return this.#last?.stale?.since ?? this.#knownUntil ?? timeNow();
  }

  #start(): void {
    // Readers without a value wait for the outcome of this attempt.
    this.#failure = undefined;
    if (this.#scope.closed) return;
    const running: OwnedIterator<unknown> = new OwnedIterator<unknown>({
      open: (signal) => this.#upstream.open(signal),
      mask: (cause) => {
        // #follow() handles the failure of the current iteration. That of an earlier one, or of its end, is only logged.
        if (!this.#isCurrent(running)) internalError(cause, this.#where.where, this.#where.report);
        return cause;
      },
      scope: this.#scope,
      signal: undefined,
    });
    this.#running = running;
    this.#restarts.started();
    void this.#follow(running);
  }

  async #leaveUpstream(): Promise<void> {
    if (this.#upstream.isOpenedOnce === true) return;
    const running = this.#running;
    // Cleared before its end, so that a reader from now on starts another one and does not wait for this one.
    this.#running = undefined;
    this.#restarts.cancel();
    if (!this.#isFinished && this.#shown !== undefined && this.#since === undefined) this.#knownUntil = timeNow();
    await running?.return();
  }

  #retry(): void {
    if (this.#users > 0 && this.#running === undefined) this.#start();
  }

  async #follow(running: OwnedIterator<unknown>): Promise<void> {
    const isCurrent = (): boolean => this.#isCurrent(running);
    let count = 0;
    try {
      for await (const frame of running) {
        if (!isCurrent()) return;
        await this.#take(frame, isCurrent);
        this.changes.wake();
        count += 1;
        if (count % stepsPerTurn === 0) await nextTurn();
      }
      if (isCurrent()) this.#end();
    } catch (cause) {
      if (isCurrent()) this.#failAndRestart(staleReasonOf(cause), cause);
    }
  }

  #isCurrent(running: OwnedIterator<unknown>): boolean {
    return this.#running === running && !this.#scope.closed;
  }

  #end(): void {
    if (this.#upstream.isFinalAtEnd !== true) return this.#failAndRestart("ended");
    this.#running = undefined;
    this.#isFinished = true;
    if (this.#shown === undefined && this.#failure === undefined) this.#fail("ended");
    this.changes.wake();
  }

  #failAndRestart(reason: Staleness["reason"], cause?: unknown): void {
    this.#running = undefined;
    this.#fail(reason, cause);
    this.changes.wake();
    this.#restarts.failed();
  }
}
