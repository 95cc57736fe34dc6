import { SurfaceError } from "../../errors.ts";
import type { Schema } from "../../schema/standard.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import { internalError } from "../fault.ts";
import { type PushedFrame, Unchanged, type Unmade } from "../pushed.ts";
import type { Reading, Staleness } from "../reading.ts";
import { createCheckOnce } from "./canonical.ts";
import { FirstFaults, toReason } from "./first-faults.ts";

/** A frame of a pushed source that could be made. */
export type MadeFrame = Exclude<PushedFrame<unknown>, Unmade>;

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
 * State of a value that arrives asynchronously: the last value that fitted its schema, and whether a newer one is known to be missing.
 * A good value stays until the next, and is marked stale while there can be none. Reports the first fault of each code, until the
 * newest value has arrived again.
 */
export class PushedValue {
  readonly #where: OutputCheck;
  readonly #check: (raw: unknown) => unknown;
  /** Of single reads, so that they do not make the watched value be checked again. */
  readonly #checkBeside: (raw: unknown) => unknown;
  readonly #faults: FirstFaults;
  #last: Reading | undefined;
  #shown: Reading | undefined;
  #failure: Error | undefined;
  /** Whether the next value is a change even if it equals the one before. */
  #isRenewed = false;
  /** Time since when there has been no good value. */
  #since: string | undefined;
  /** Time until when the last value was known to be the newest, while it has no readers. */
  #knownUntil: string | undefined;

  constructor(schema: Schema, where: OutputCheck) {
    this.#where = where;
    this.#faults = new FirstFaults(where);
    const check = { where: where.where, report: this.#faults.report };
    this.#check = createCheckOnce((raw) => checkOutput(schema, raw, check));
    this.#checkBeside = createCheckOnce((raw) => checkOutput(schema, raw, check));
  }

  /** The reading for clients, the same object while nothing has changed; `undefined` until upstream has answered or failed. */
  get shown(): Reading | undefined {
    return this.#shown;
  }

  /** The error for readers who would otherwise wait for a value that does not come. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether upstream is known to be unreachable, so that a reader must not wait for another attempt. */
  get isLost(): boolean {
    if (this.#shown !== undefined) return this.#shown.stale?.reason === "lost";
    return this.#failure !== undefined && toReason(this.#failure) === "lost";
  }

  /** Starts afresh for the first reader: the value from before is shown only if upstream has nothing newer. */
  begin(): void {
    this.#shown = undefined;
    this.#failure = undefined;
  }

  /** Starts another attempt: readers without a value wait for its outcome. */
  retry(): void {
    this.#failure = undefined;
  }

  /** Makes the next value a change even if it equals the one before. */
  renew(): void {
    this.#isRenewed = true;
  }

  /** Notes that the last reader has left. */
  rest(): void {
    if (this.#shown !== undefined && this.#since === undefined) this.#knownUntil = timeNow();
  }

  /** Takes a frame, unless `isWanted` returns false once it is checked. A frame that throws counts as invalid. Never rejects. */
  async takeFrame(read: () => MadeFrame, isWanted: () => boolean): Promise<void> {
    let frame: MadeFrame;
    let value: unknown;
    try {
      frame = read();
      if (!(frame instanceof Unchanged)) value = this.#check(frame.value);
      if (value instanceof Promise) value = await value;
    } catch (cause) {
      if (isWanted()) this.fail("invalid", cause);
      return;
    }
    if (!isWanted()) return;
    if (!(frame instanceof Unchanged)) this.#last = { value };
    this.#accept(frame.stale);
  }

  /**
   * Returns the reading of a frame that was read beside the watch, for its reader alone: nothing tells which of the two is newer, and the
   * watch would not repeat a value that an older one had replaced. `undefined` if there is no value.
   *
   * @throws the masked error of a value that does not fit, if there is no good value.
   */
  async readBeside(read: () => MadeFrame): Promise<Reading | undefined> {
    try {
      const frame = read();
      if (frame instanceof Unchanged) return this.#last && toReadingOf(this.#last.value, frame.stale);
      const value = await this.#checkBeside(frame.value);
      if (frame.stale === undefined) this.#faults.clear();
      return toReadingOf(value, frame.stale);
    } catch (cause) {
      return this.failBeside("invalid", cause);
    }
  }

  /** Returns the last good value, marked stale, after such a read has failed. @throws the masked error if there is none. */
  failBeside(reason: "invalid" | "lost", cause: unknown): Reading {
    const error = this.#faults.mask(cause);
    if (this.#last === undefined) throw error;
    return toReadingOf(this.#last.value, { reason, since: this.#since ?? this.#staleSince() });
  }

  /** Marks the value as stale: upstream failed, ended, or sent a value that does not fit. Never throws. */
  fail(reason: Staleness["reason"], cause?: unknown): void {
    const error = reason === "ended" ? this.createAbsent() : this.#faults.mask(cause);
    this.#since ??= this.#staleSince();
    if (this.#last === undefined) this.#failure = error;
    else this.#show({ value: this.#last.value, stale: { reason, since: this.#since } });
  }

  /** Notes that upstream has ended for good, and the last value is final. */
  finish(): void {
    if (this.#shown === undefined && this.#failure === undefined) this.fail("ended");
  }

  /** Creates the error of an upstream that ended without a value. */
  createAbsent(): SurfaceError {
    return new SurfaceError("ABSENT", `Cannot read ${this.#where.where}: it ended without a value`);
  }

  /** Reports an error that no reader gets. */
  note(cause: unknown): void {
    internalError(cause, this.#where.where, this.#where.report);
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
}
