import { SurfaceError } from "../../errors.ts";
import { checkOutput } from "../check-value.ts";
import { internalError, maskFault, type FaultReporter } from "../fault.ts";
import type { Schema } from "../../schema/standard.ts";
import { isRelayed, relay } from "../relayed.ts";
import { fromReading, type Reading, type Staleness } from "../reading.ts";
import { CheckedOnce } from "./checked-once.ts";

/** What a {@link PushedValue} is checked against, and who is told of faults. */
export interface PushedValueSetting {
  readonly schema: Schema;
  /** For example `cell "red"`. */
  readonly where: string;
  readonly report: FaultReporter;
}

/** A while without good values: from the first that failed to the next that is good. */
interface Spell {
  readonly since: string;
  /** What readers fail with; one a reason, as only the first of each is told to the log. */
  readonly errors: Map<Staleness["reason"], Error>;
}

/** A value on a channel, and the reading that it was made of. */
interface Shown {
  readonly reading: Reading;
  readonly carried: unknown;
}

function isSame(left: Reading, right: Reading): boolean {
  if (!Object.is(left.value, right.value)) return false;
  return left.stale?.reason === right.stale?.reason && left.stale?.since === right.stale?.since;
}

function timeNow(): string {
  return new Date().toISOString();
}

/** What may be said of a failure further up. A proxy may throw when it is asked what it is; that one is none. */
function toRelayed(cause: unknown): SurfaceError | undefined {
  try {
    const told = relay(cause);
    return isRelayed(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What is known of a value that comes by and by: the last that fitted its schema, and whether something newer is known to
 * be missing. A value that was good stands until the next, marked as stale while there can be none; nothing is ever shown
 * that did not come. Each fault is reported once a spell.
 */
export class PushedValue {
  readonly #setting: PushedValueSetting;
  readonly #checked: CheckedOnce;
  #last: Reading | undefined;
  /** What stands for readers now; `undefined` until what was opened has told, one way or the other. */
  #shown: Shown | undefined;
  #failure: Error | undefined;
  #spell: Spell | undefined;
  /** Until when the last value was known to be the newest, while nobody looks. */
  #knownUntil: string | undefined;

  constructor(setting: PushedValueSetting) {
    const { schema, where } = setting;
    const check = { where, report: this.#reporterOf("invalid") };
    this.#setting = setting;
    this.#checked = new CheckedOnce((raw) => checkOutput(schema, raw, check));
  }

  /** What stands on the channel for the value. The same object for as long as nothing has changed. */
  get shown(): { readonly carried: unknown } | undefined {
    return this.#shown;
  }

  /** What a reader fails with who would otherwise wait for a value that does not come. */
  get failure(): Error | undefined {
    return this.#failure;
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

  /** Nobody looks any more. */
  rest(): void {
    if (this.#shown !== undefined && this.#spell === undefined) this.#knownUntil = timeNow();
  }

  /** Takes what a frame says. One that says nothing is as one that does not fit. Never rejects. */
  async takeFrame(read: () => Reading, isWanted: () => boolean): Promise<void> {
    let reading: Reading;
    try {
      reading = read();
    } catch (cause) {
      this.fail("invalid", cause);
      return;
    }
    await this.take(reading, isWanted);
  }

  /** Takes what was read, unless `isWanted` says in the end that something else has come meanwhile. Never rejects. */
  async take({ value: raw, stale }: Reading, isWanted: () => boolean): Promise<void> {
    let value: unknown;
    try {
      const checked = this.#checked.of(raw);
      value = checked instanceof Promise ? await checked : checked;
    } catch (cause) {
      if (isWanted()) this.fail("invalid", cause);
      return;
    }
    if (!isWanted()) return;
    this.#last = stale === undefined ? { value } : { value, stale };
    this.#spell = undefined;
    this.#failure = undefined;
    this.#knownUntil = undefined;
    this.#show(this.#last);
  }

  /** No value came, or one that does not fit; `ended` needs no cause. Never throws. */
  fail(reason: Staleness["reason"], cause?: unknown): void {
    const errors = this.#spell?.errors ?? new Map<Staleness["reason"], Error>();
    const error = errors.get(reason) ?? this.#errorOf(reason, cause);
    errors.set(reason, error);
    this.#spell ??= { since: this.#staleSince(), errors };
    if (this.#last === undefined) this.#failure = error;
    else this.#show({ value: this.#last.value, stale: { reason, since: this.#spell.since } });
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

  #show(reading: Reading): void {
    if (this.#shown !== undefined && isSame(this.#shown.reading, reading)) return;
    this.#shown = { reading, carried: fromReading(reading) };
  }

  /** Tells the log of the first fault of its kind in a spell. */
  #reporterOf(reason: Staleness["reason"]): FaultReporter {
    return (fault) => (this.#spell?.errors.has(reason) === true ? undefined : this.#setting.report(fault));
  }

  #staleSince(): string {
    return this.#last?.stale?.since ?? this.#knownUntil ?? timeNow();
  }

  #errorOf(reason: Staleness["reason"], cause: unknown): Error {
    if (reason === "ended") return this.createAbsent();
    const { where } = this.#setting;
    const report = this.#reporterOf(reason);
    const told = toRelayed(cause);
    if (told === undefined) return maskFault(cause, where, report);
    internalError(cause, where, report);
    return told;
  }
}
