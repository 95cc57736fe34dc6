import { LinkedAbort } from "../../spine/linked-abort.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { toAborted, untilAborted } from "../../spine/until-aborted.ts";
import type { Schema } from "../../schema/standard.ts";
import type { UseOptions } from "../client.ts";
import type { OwnerSetting } from "./owner.ts";
import { PushedValue } from "./pushed-value.ts";
import { SharedUpstream } from "./shared-upstream.ts";
import { toReason } from "./to-reason.ts";
import type { Upstream } from "./upstream.ts";

/** A cell, or the part of a collection that is read as one. */
export interface PushedMember {
  readonly kind: "cell" | "collection";
  readonly schema: Schema;
}

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
   * The value now, or a {@link Stale} one. Waits for the first; fails where that does not come.
   *
   * @throws SurfaceError `UNAVAILABLE` or `DROPPED` when what it comes from cannot be reached, `ABSENT` when that has ended
   * without a value, `INVALID_OUTPUT` for one that does not fit, `INTERNAL` when it fails, `ABORTED` or `CLOSED`.
   */
  async get(use: UseOptions): Promise<unknown> {
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    const { signal } = abort;
    try {
      if (await this.#readAtRest(signal)) return this.#answer();
      return await this.#first(signal);
    } finally {
      abort.dispose();
    }
  }

  /**
   * The value now, then each change, also of whether it is stale; skips what nobody waited for. Waits for the first value
   * through every failure; fails with `ABSENT` where there will be none.
   */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const { scope } = this.#setting;
    return new OwnedIterator({ open: (signal) => this.#follow(signal), scope, signal: use.signal });
  }

  async *#follow(signal: AbortSignal): AsyncGenerator {
    const release = this.#hold();
    let told: { readonly carried: unknown } | undefined;
    try {
      while (!signal.aborted) {
        const { shown, failure } = this.#value;
        if (shown !== undefined && (told === undefined || !Object.is(told.carried, shown.carried))) {
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

  /** Reads it once where nobody watches it and it can be read without being opened. Whether there is an answer now. */
  async #readAtRest(signal: AbortSignal): Promise<boolean> {
    const { read } = this.#upstream;
    if (read === undefined || !this.#shared.isResting) return false;
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
    if (!this.#shared.isResting) return false;
    if (this.#newest === turn) this.#value.rest();
    return this.#value.shown !== undefined || this.#value.failure !== undefined;
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
      while (this.#value.shown === undefined && this.#value.failure === undefined) {
        if (signal.aborted) throw toAborted(signal, this.#doing);
        await this.#shared.change(signal);
      }
      return this.#answer();
    } finally {
      // Not waited for: the answer is there, and how long the other end takes to end is not its caller's to bear.
      void release();
    }
  }

  #answer(): unknown {
    const { shown, failure } = this.#value;
    if (shown !== undefined) return shown.carried;
    // What it comes from may have ended with the surface: that says nothing of the value.
    this.#setting.scope.assertOpen();
    throw failure ?? this.#value.createAbsent();
  }
}
