import { SurfaceError } from "../../errors.ts";
import { checkOutput } from "../check-value.ts";
import { internalError, type FaultReporter } from "../fault.ts";
import type { Schema } from "../../schema/standard.ts";
import { Unchanged, type PushedFrame, type Unmade } from "../pushed.ts";
import { fromReading, type Reading, type Staleness } from "../reading.ts";
import { CheckedOnce } from "./checked-once.ts";
import { FirstFaults } from "./first-faults.ts";
import { toReason } from "./to-reason.ts";

/** What a {@link PushedValue} is checked against, and who is told of faults. */
export interface PushedValueSetting {
  readonly schema: Schema;
  /** For example `cell "red"`. */
  readonly where: string;
  readonly report: FaultReporter;
}

/** A value on a channel. */
export interface Carried {
  readonly carried: unknown;
}

/** A value on a channel, and the reading that it was made of. */
interface Shown extends Carried {
  readonly reading: Reading;
}

function isSame(left: Reading, right: Reading): boolean {
  if (!Object.is(left.value, right.value)) return false;
  return left.stale?.reason === right.stale?.reason && left.stale?.since === right.stale?.since;
}

function toCarried(value: unknown, stale: Staleness | undefined): Carried {
  return { carried: fromReading(stale === undefined ? { value } : { value, stale }) };
}

function timeNow(): string {
  return new Date().toISOString();
}

/**
 * What is known of a value that comes by and by: the last that fitted its schema, and whether something newer is known to
 * be missing. A value that was good stands until the next, marked as stale while there can be none; nothing is ever shown
 * that did not come. Of the faults of one code the first is reported, until a value has come that is the newest again.
 */
export class PushedValue {
  readonly #setting: PushedValueSetting;
  readonly #checked: CheckedOnce;
  /** Of what is read beside what is followed, so that one does not have the other checked anew. */
  readonly #checkedBeside: CheckedOnce;
  #last: Reading | undefined;
  /** What stands for readers now; `undefined` until what was opened has told, one way or the other. */
  #shown: Shown | undefined;
  #isRenewed = false;
  #failure: Error | undefined;
  /** Since when there has been no good value. */
  #since: string | undefined;
  readonly #faults: FirstFaults;
  /** Until when the last value was known to be the newest, while nobody looks. */
  #knownUntil: string | undefined;

  constructor(setting: PushedValueSetting) {
    const { schema, where } = setting;
    this.#setting = setting;
    this.#faults = new FirstFaults(setting);
    const check = { where, report: this.#faults.report };
    this.#checked = new CheckedOnce((raw) => checkOutput(schema, raw, check));
    this.#checkedBeside = new CheckedOnce((raw) => checkOutput(schema, raw, check));
  }

  /** What stands on the channel for the value. The same object for as long as nothing has changed. */
  get shown(): Carried | undefined {
    return this.#shown;
  }

  /** What a reader fails with who would otherwise wait for a value that does not come. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether what is known by now is that it cannot be reached: to try again is not a reader's to wait for. */
  get isLost(): boolean {
    if (this.#shown !== undefined) return this.#shown.reading.stale?.reason === "lost";
    return this.#failure !== undefined && toReason(this.#failure) === "lost";
  }

  /** Opened for the first reader: what was known before is not shown unless there turns out to be nothing newer. */
  begin(): void {
    this.#shown = undefined;
    this.#failure = undefined;
  }

  /** Opened again, for readers who are still there: those without a value wait for how it goes this time. */
  retry(): void {
    this.#failure = undefined;
  }

  /** Has the next value count as a change even if it equals the value before. */
  renew(): void {
    this.#isRenewed = true;
  }

  /** Nobody looks any more. */
  rest(): void {
    if (this.#shown !== undefined && this.#since === undefined) this.#knownUntil = timeNow();
  }

  /**
   * Takes what a frame says, unless `isWanted` says in the end that something else has come meanwhile. One that says
   * nothing is as one that does not fit. Never rejects.
   */
  async takeFrame(read: () => Exclude<PushedFrame<unknown>, Unmade>, isWanted: () => boolean): Promise<void> {
    let frame: Exclude<PushedFrame<unknown>, Unmade>;
    try {
      frame = read();
    } catch (cause) {
      if (isWanted()) this.fail("invalid", cause);
      return;
    }
    if (!(frame instanceof Unchanged)) await this.#take(frame, isWanted);
    else if (isWanted()) this.#stand(frame.stale);
  }

  /**
   * What a frame says that was read beside what is followed, for its reader alone: which of the two is newer nobody can
   * know, and what is followed does not tell again what an older value had replaced. `undefined` where it says nothing.
   *
   * @throws what a reader fails with, for a value that does not fit where none before it did.
   */
  async readBeside(read: () => Exclude<PushedFrame<unknown>, Unmade>): Promise<Carried | undefined> {
    try {
      const frame = read();
      if (frame instanceof Unchanged) return this.#last && toCarried(this.#last.value, frame.stale);
      const value = await this.#checkedBeside.of(frame.value);
      if (frame.stale === undefined) this.#faults.clear();
      return toCarried(value, frame.stale);
    } catch (cause) {
      return this.failBeside("invalid", cause);
    }
  }

  /** What stands when such a read has failed, marked as stale for its reader alone. @throws what a reader fails with. */
  failBeside(reason: "invalid" | "lost", cause: unknown): Carried {
    const error = this.#faults.mask(cause);
    if (this.#last === undefined) throw error;
    return toCarried(this.#last.value, { reason, since: this.#since ?? this.#staleSince() });
  }

  /** No value came, or one that does not fit; `ended` needs no cause. Never throws. */
  fail(reason: Staleness["reason"], cause?: unknown): void {
    const error = reason === "ended" ? this.createAbsent() : this.#faults.mask(cause);
    this.#since ??= this.#staleSince();
    if (this.#last === undefined) this.#failure = error;
    else this.#show({ value: this.#last.value, stale: { reason, since: this.#since } });
  }

  /** It has said its last word: what stands is not to be waited for again. */
  finish(): void {
    if (this.#shown === undefined && this.#failure === undefined) this.fail("ended");
  }

  /** The error of what has ended before there was a value. */
  createAbsent(): SurfaceError {
    return new SurfaceError("ABSENT", `Reading ${this.#setting.where}: it ended without a value`);
  }

  /** Reports what went wrong where nobody waits for it. */
  note(cause: unknown): void {
    internalError(cause, this.#setting.where, this.#setting.report);
  }

  async #take({ value: raw, stale }: Reading, isWanted: () => boolean): Promise<void> {
    let value: unknown;
    try {
      const checked = this.#checked.of(raw);
      value = checked instanceof Promise ? await checked : checked;
    } catch (cause) {
      if (isWanted()) this.fail("invalid", cause);
      return;
    }
    if (!isWanted()) return;
    this.#last = { value };
    this.#stand(stale);
  }

  /** What came last stands, if anything has; what it comes from can be reached in any case. */
  #stand(stale: Staleness | undefined): void {
    this.#since = undefined;
    this.#failure = undefined;
    this.#knownUntil = undefined;
    if (stale === undefined) this.#faults.clear();
    if (this.#last === undefined) return;
    this.#last = stale === undefined ? { value: this.#last.value } : { value: this.#last.value, stale };
    this.#show(this.#last);
  }

  #show(reading: Reading): void {
    if (this.#shown !== undefined && !this.#isRenewed && isSame(this.#shown.reading, reading)) return;
    this.#isRenewed = false;
    this.#shown = { reading, carried: fromReading(reading) };
  }

  #staleSince(): string {
    return this.#last?.stale?.since ?? this.#knownUntil ?? timeNow();
  }
}
