import type { Schema } from "../../schema/standard.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { LinkedAbort, createAbortedError, untilAborted } from "../../spine/signals.ts";
import type { UseOptions } from "../client.ts";
import type { Kind } from "../member.ts";
import { fromReading, type Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { AsyncValue } from "./async-value.ts";
import { staleReasonOf } from "./first-faults.ts";
import type { OwnerDeps } from "./owner.ts";
import type { Upstream } from "./upstream.ts";

/** Milliseconds after which a read beside a watch gives up, and returns the value of the watch. */
const besideMs = 1000;

const always = (): boolean => true;

/** Creates the reading of a frame that was read, or of the failure to read it. */
type TakeFrame = () => Reading | Promise<Reading | undefined>;

/**
 * Owns a cell whose values arrive asynchronously. A first read waits for a value; a value stays until the next, marked `Stale` while there
 * can be none. All readers share one iteration over the upstream.
 */
export class PushedCellOwner {
  readonly kind = "cell";
  readonly #upstream: Upstream;
  readonly #deps: OwnerDeps;
  readonly #value: AsyncValue;
  readonly #doing: string;
  /** Number of reads and watches that have begun. */
  #begun = 0;
  /** Number of the newest of them that has set the value. The outcome of an older one is out of date. */
  #newest = 0;
  /** Reading of the newest read beside a watch. */
  #beside: { readonly turn: number; readonly reading: Reading } | undefined;

  /** @param part - a cell, or the part of a collection that is read like one. */
  constructor(part: { readonly kind: Kind; readonly schema: Schema }, upstream: Upstream, deps: OwnerDeps) {
    const { scope, report } = deps;
    const where = `${part.kind} "${deps.key}"`;
    this.#upstream = upstream;
    this.#deps = deps;
    this.#doing = `Reading ${where}`;
    this.#value = new AsyncValue(part.schema, upstream, { where, report, scope });
  }

  /**
   * Returns the value, or a `Stale` one. Waits for the first value, and fails if it does not come. An upstream that can be read is read
   * each time, also beside a watch, so that no client gets a value older than one it knows. If the watch knows that upstream is lost,
   * returns the last value at once.
   *
   * @throws SurfaceError `UNAVAILABLE` or `DROPPED` when upstream cannot be reached, `ABSENT` when it has ended without a value,
   * `INVALID_OUTPUT` for a value that does not fit, `INTERNAL` when upstream fails, `ABORTED` or `CLOSED`.
   */
  async get(use: UseOptions): Promise<unknown> {
    const abort = new LinkedAbort(use.signal, this.#deps.scope.signal);
    const { signal } = abort;
    try {
      const reading = await (this.#value.isResting ? this.#readAtRest(signal) : this.#readBeside(signal));
      return fromReading(reading ?? (await this.#first(signal)));
    } finally {
      abort.dispose();
    }
  }

  /**
   * Returns the value, then each change, also of its staleness; skips values that the client was too slow for. Waits for the first value
   * through every failure; fails with `ABSENT` if upstream ended for good without one.
   *
   * @param isReady - returns whether the value may be the first one. A lost value may be in any case.
   */
  watch(use: UseOptions, isReady: () => boolean = always): AsyncIterable<unknown> {
    const { scope } = this.#deps;
    return new OwnedIterator({ open: (signal) => this.#follow(signal, isReady), scope, signal: use.signal });
  }

  /** Makes watchers receive the next value even if it equals the one before. */
  renew(): void {
    this.#value.renew();
  }

  async *#follow(signal: AbortSignal, isReady: () => boolean): AsyncGenerator {
    const release = this.#hold();
    let told: Reading | undefined;
    try {
      while (!signal.aborted) {
        const { shown, failure } = this.#value;
        if (shown !== undefined && shown !== told && (told !== undefined || isReady() || this.#value.isLost)) {
          told = shown;
          yield fromReading(shown);
        } else if (shown === undefined && failure !== undefined && this.#value.isFinished) throw failure;
        else await this.#value.changes.next(signal);
      }
    } finally {
      await release();
    }
  }

  #hold(): () => Promise<void> {
    this.#begun += 1;
    this.#newest = this.#begun;
    return this.#value.hold();
  }

  /** Reads once, without a watch, if upstream can be read without opening it. Otherwise returns `undefined`. */
  async #readAtRest(signal: AbortSignal): Promise<Reading | undefined> {
    if (this.#upstream.read === undefined) return undefined;
    this.#begun += 1;
    const turn = this.#begun;
    const takesTurn = (): boolean => this.#takesTurn(turn);
    try {
      const start = async (): Promise<unknown> => this.#upstream.read?.(signal);
      await this.#value.takeFrame(await untilAborted({ start, signal, doing: this.#doing }), takesTurn);
    } catch (cause) {
      if (signal.aborted) throw createAbortedError(signal, this.#doing);
      if (takesTurn()) this.#value.fail(staleReasonOf(cause), cause);
    }
    // A watch has begun meanwhile, and its value is newer.
    if (!this.#value.isResting) return undefined;
    if (this.#newest === turn) this.#value.rest();
    // Read now: a watch that begins before the caller continues clears the value.
    return this.#isKnown ? this.#answer() : undefined;
  }

  /**
   * Reads once beside a watch, whose value may be older than one that the client knows, for example from the answer of a call. Returns
   * `undefined` if the value of the watch is the answer.
   */
  async #readBeside(signal: AbortSignal): Promise<Reading | undefined> {
    const canRead = this.#upstream.read !== undefined && this.#upstream.isReadWhileOpen !== false;
    if (!canRead || this.#value.isLost) return undefined;
    this.#begun += 1;
    const turn = this.#begun;
    const take = await this.#readUnlessLost(signal);
    if (take === undefined) return undefined;
    const reading = await untilAborted({ start: async () => take(), signal, doing: this.#doing });
    const beside = this.#beside;
    // A later read has answered already, so this one may be older.
    if (beside !== undefined && beside.turn > turn) return beside.reading;
    if (reading !== undefined && reading.stale === undefined) this.#beside = { turn, reading };
    return reading;
  }

  /** Reads a frame. Returns `undefined` if the read takes too long, or the watch finds out that upstream is lost. */
  async #readUnlessLost(signal: AbortSignal): Promise<TakeFrame | undefined> {
    const value = this.#value;
    const abort = new LinkedAbort(signal);
    void this.#abortWhenLost(abort);
    const stopTimer = systemClock.after(besideMs, () => abort.abort());
    try {
      const start = async (): Promise<unknown> => this.#upstream.read?.(abort.signal);
      const frame = await untilAborted({ start, signal: abort.signal, doing: this.#doing });
      return () => value.readBeside(frame);
    } catch (cause) {
      if (signal.aborted) throw createAbortedError(signal, this.#doing);
      return value.isLost || abort.signal.aborted ? undefined : () => value.failBeside(staleReasonOf(cause), cause);
    } finally {
      stopTimer();
      abort.dispose();
      abort.abort();
    }
  }

  async #abortWhenLost(abort: LinkedAbort): Promise<void> {
    while (!abort.signal.aborted && !this.#value.isLost) await this.#value.changes.next(abort.signal);
    abort.abort();
  }

  /** Returns true, and remembers the turn, if no later read or watch has set the value. */
  #takesTurn(turn: number): boolean {
    if (!this.#value.isResting || turn < this.#newest) return false;
    this.#newest = turn;
    return true;
  }

  async #first(signal: AbortSignal): Promise<Reading> {
    const release = this.#hold();
    try {
      while (!this.#isKnown) {
        if (signal.aborted) throw createAbortedError(signal, this.#doing);
        await this.#value.changes.next(signal);
      }
      return this.#answer();
    } finally {
      // Not awaited: the reader has its answer, however long upstream takes to end.
      void release();
    }
  }

  get #isKnown(): boolean {
    return this.#value.shown !== undefined || this.#value.failure !== undefined;
  }

  #answer(): Reading {
    const { shown, failure } = this.#value;
    if (shown !== undefined) return shown;
    // Upstream may have ended with the surface, which says nothing of the value.
    this.#deps.scope.assertOpen();
    throw failure ?? this.#value.createAbsent();
  }
}
