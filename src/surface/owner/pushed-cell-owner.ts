import { LinkedAbort, toAborted, untilAborted } from "../../spine/signals.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { Schema } from "../../schema/standard.ts";
import type { UseOptions } from "../client.ts";
import { systemClock } from "../system-clock.ts";
import { Stale } from "../reading.ts";
import type { OwnerSetting } from "./owner.ts";
import { PushedValue, type Carried } from "./pushed-value.ts";
import { SharedUpstream } from "./shared-upstream.ts";
import { toReason } from "./to-reason.ts";
import type { Upstream } from "./upstream.ts";

/** How long a read of what is watched may take until what the watch knows is told instead, in milliseconds. */
const besideMs = 1000;

/** A cell, or the part of a collection that is read as one. */
export interface PushedMember {
  readonly kind: "cell" | "collection";
  readonly schema: Schema;
}

const always = (): boolean => true;

type ReadFrame = (signal: AbortSignal) => Promise<unknown>;

/** Makes what is told of what a read came to. */
type TakeFrame = () => Carried | Promise<Carried | undefined>;

/**
 * Owns a cell whose values come by and by: the first read waits for one, and each that came stands until the next, as
 * {@link Stale} while there can be none. What it comes from is opened once for all who read it.
 */
export class PushedCellOwner {
  readonly kind = "cell";
  readonly #upstream: Upstream;
  readonly #setting: OwnerSetting;
  readonly #value: PushedValue;
  readonly #shared: SharedUpstream;
  readonly #doing: string;
  /** How many reads and watches have begun. */
  #begun = 0;
  /** Which of them has told the newest: what an older one comes to is out of date. */
  #newest = 0;
  /** What the newest of the reads came to that were made while it was watched. */
  #beside: { readonly turn: number; readonly told: Carried } | undefined;

  constructor(member: PushedMember, upstream: Upstream, setting: OwnerSetting) {
    const { scope, report } = setting;
    const where = `${member.kind} "${setting.key}"`;
    this.#upstream = upstream;
    this.#setting = setting;
    this.#doing = `Reading ${where}`;
    this.#value = new PushedValue({ schema: member.schema, where, report });
    this.#shared = new SharedUpstream({ upstream, value: this.#value, scope });
  }

  /**
   * The value now, or a {@link Stale} one. Waits for the first; fails where that does not come. What can be read is read
   * anew, also while it is watched, so that nobody is told less than what they know already; what a watch knows to be
   * lost is told at once.
   *
   * @throws SurfaceError `UNAVAILABLE` or `DROPPED` when what it comes from cannot be reached, `ABSENT` when that has ended
   * without a value, `INVALID_OUTPUT` for one that does not fit, `INTERNAL` when it fails, `ABORTED` or `CLOSED`.
   */
  async get(use: UseOptions): Promise<unknown> {
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    const { signal } = abort;
    try {
      const told = await (this.#shared.isResting ? this.#readAtRest(signal) : this.#readBeside(signal));
      return told === undefined ? await this.#first(signal) : told.carried;
    } finally {
      abort.dispose();
    }
  }

  /**
   * The value now, then each change, also of whether it is stale; skips what nobody waited for. Waits for the first value
   * through every failure; fails with `ABSENT` where there will be none.
   *
   * @param isReady - Returns whether the value may be the first one. A value that is lost may be, in any case.
   */
  watch(use: UseOptions, isReady: () => boolean = always): AsyncIterable<unknown> {
    const { scope } = this.#setting;
    return new OwnedIterator({ open: (signal) => this.#follow(signal, isReady), scope, signal: use.signal });
  }

  /** Has watchers receive the next value even if it equals the value before. */
  renew(): void {
    this.#value.renew();
  }

  async *#follow(signal: AbortSignal, isReady: () => boolean): AsyncGenerator {
    const release = this.#hold();
    let told: Carried | undefined;
    try {
      while (!signal.aborted) {
        const { shown, failure } = this.#value;
        if (shown !== undefined && shown !== told && (told !== undefined || isReady() || this.#value.isLost)) {
          told = shown;
          yield shown.carried;
        } else if (shown === undefined && failure !== undefined && this.#shared.isFinished) throw failure;
        else await this.#shared.change(signal);
      }
    } finally {
      await release();
    }
  }

  #hold(): () => Promise<void> {
    this.#begun += 1;
    this.#newest = this.#begun;
    return this.#shared.hold();
  }

  /** Reads it once, as nobody watches it, where it can be read without being opened. What there is to tell then. */
  async #readAtRest(signal: AbortSignal): Promise<Carried | undefined> {
    const { read } = this.#upstream;
    if (read === undefined) return undefined;
    this.#begun += 1;
    const turn = this.#begun;
    const takesTurn = (): boolean => this.#takesTurn(turn);
    try {
      const frame = await untilAborted({ start: async () => read(signal), signal, doing: this.#doing });
      await this.#value.takeFrame(() => this.#upstream.toFrame(frame), takesTurn);
    } catch (cause) {
      if (signal.aborted) throw toAborted(signal, this.#doing);
      if (takesTurn()) this.#value.fail(toReason(cause), cause);
    }
    // Otherwise somebody has begun to watch it meanwhile, and what that tells is newer.
    if (!this.#shared.isResting) return undefined;
    if (this.#newest === turn) this.#value.rest();
    // Here and not when its caller has its turn: a watch that begins in between knows of nothing.
    return this.#isTold ? { carried: this.#answer() } : undefined;
  }

  /**
   * Reads it once while it is watched: what the watch has told by now may be older than what this caller knows, as of a
   * call that has answered. `undefined` where what the watch knows is the answer.
   */
  async #readBeside(signal: AbortSignal): Promise<Carried | undefined> {
    const { read, isReadWhileOpen } = this.#upstream;
    if (read === undefined || !isReadWhileOpen || this.#shared.isFinished || this.#value.isLost) return undefined;
    this.#begun += 1;
    const turn = this.#begun;
    const take = await this.#frameUnlessLost(read, signal);
    if (take === undefined) return undefined;
    const told = await untilAborted({ start: async () => take(), signal, doing: this.#doing });
    const beside = this.#beside;
    // One that began later has told already: this one may be older.
    if (beside !== undefined && beside.turn > turn) return beside.told;
    if (told !== undefined && !(told.carried instanceof Stale)) this.#beside = { turn, told };
    return told;
  }

  /** What makes something of a frame, or of why there is none; `undefined` once the watch knows that none can be had. */
  async #frameUnlessLost(read: ReadFrame, signal: AbortSignal): Promise<TakeFrame | undefined> {
    const value = this.#value;
    const abort = new LinkedAbort(signal);
    void this.#abortWhenLost(abort);
    // What answers no reads, and yet tells its watchers, is told by those.
    const stopTimer = systemClock.after(besideMs, () => abort.abort());
    try {
      const start = async (): Promise<unknown> => read(abort.signal);
      const frame = await untilAborted({ start, signal: abort.signal, doing: this.#doing });
      return () => value.readBeside(() => this.#upstream.toFrame(frame));
    } catch (cause) {
      if (signal.aborted) throw toAborted(signal, this.#doing);
      return value.isLost || abort.signal.aborted ? undefined : () => value.failBeside(toReason(cause), cause);
    } finally {
      stopTimer();
      abort.dispose();
      abort.abort();
    }
  }

  async #abortWhenLost(abort: LinkedAbort): Promise<void> {
    while (!abort.signal.aborted && !this.#value.isLost) await this.#shared.change(abort.signal);
    abort.abort();
  }

  /** Whether what a read came to is to be taken, as nothing that has begun later has told anything yet. */
  #takesTurn(turn: number): boolean {
    if (!this.#shared.isResting || turn < this.#newest) return false;
    this.#newest = turn;
    return true;
  }

  async #first(signal: AbortSignal): Promise<unknown> {
    const release = this.#hold();
    try {
      while (!this.#isTold) {
        if (signal.aborted) throw toAborted(signal, this.#doing);
        await this.#shared.change(signal);
      }
      return this.#answer();
    } finally {
      // Not waited for: the answer is there, and how long the other end takes to end is not its caller's to bear.
      void release();
    }
  }

  get #isTold(): boolean {
    return this.#value.shown !== undefined || this.#value.failure !== undefined;
  }

  #answer(): unknown {
    const { shown, failure } = this.#value;
    if (shown !== undefined) return shown.carried;
    // What it comes from may have ended with the surface: that says nothing of the value.
    this.#setting.scope.assertOpen();
    throw failure ?? this.#value.createAbsent();
  }
}
