import type { Schema } from "../../schema/standard.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { LinkedAbort, createAbortedError, untilAborted } from "../../spine/signals.ts";
import type { UseOptions } from "../client.ts";
import type { Kind } from "../member.ts";
import { fromReading, type Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { AsyncValue } from "./async-value.ts";
import { staleReasonOf } from "./first-faults.ts";
import type { OwnerDeps } from "./handler-context.ts";
import type { Upstream } from "./upstream.ts";

/** Milliseconds after which a read beside a watch gives up, and returns the value of the watch. */
const besideMs = 1000;

/** Creates the reading of a frame that was read, or of the failure to read it. */
type TakeFrame = () => Reading | Promise<Reading | undefined>;

/** Owns a cell whose values arrive asynchronously. A first read waits for a value, which stays until the next; all share one iteration. */
export class PushedCellOwner {
  readonly kind = "cell";
  readonly #upstream: Upstream;
  readonly #deps: OwnerDeps;
  readonly #value: AsyncValue;
  readonly #doing: string;
  #begun = 0;
  /** The newest of them that has an answer; without a reading it is a watch. The outcome of an older read is out of date. */
  #newest: { readonly turn: number; readonly reading?: Reading } = { turn: 0 };

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
   * Returns the value, or a `Stale` one. An upstream that can be read is read each time, so that no client gets a value older than one it
   * knows. Otherwise waits for the first value of the iteration, and fails if it does not come.
   * @throws SurfaceError `UNAVAILABLE`, `DROPPED`, `ABSENT` if upstream ended without a value, `INVALID_OUTPUT`, `INTERNAL`, `ABORTED`,
   * `CLOSED`.
   */
  async get(use: UseOptions): Promise<unknown> {
    const abort = new LinkedAbort(use.signal, this.#deps.scope.signal);
    const { signal } = abort;
    try {
      return fromReading((await this.#read(signal)) ?? (await this.#first(signal)));
    } finally {
      abort.dispose();
    }
  }

  /** Yields the value, then each change, also of its staleness; may skip. Waits for a first value that `isReady` accepts, or a lost one. */
  watch(use: UseOptions, isReady = (): boolean => true): AsyncIterable<unknown> {
    const { scope } = this.#deps;
    return new OwnedIterator({ open: (signal) => this.#follow(signal, isReady), scope, signal: use.signal });
  }

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
    this.#newest = { turn: this.#begun };
    return this.#value.hold();
  }

  /** Reads upstream once, also beside a watch, which may be behind the answer of a call. `undefined`: the value of the watch is the answer. */
  async #read(signal: AbortSignal): Promise<Reading | undefined> {
    const value = this.#value;
    if (!this.#canRead) return undefined;
    this.#begun += 1;
    const turn = this.#begun;
    const take = await this.#readFrame(signal);
    if (take === undefined) return undefined;
    if (turn < this.#newest.turn) return this.#newest.reading ?? (value.isResting ? value.shown : undefined);
    const reading = await untilAborted({ start: async () => take(), signal, doing: this.#doing });
    const isGood = reading !== undefined && reading.stale === undefined;
    if (isGood && turn > this.#newest.turn) this.#newest = { turn, reading };
    return reading;
  }

  /** Reads a frame. Returns `undefined` if a read beside a watch takes too long, or the watch finds out that upstream is lost. */
  async #readFrame(signal: AbortSignal): Promise<TakeFrame | undefined> {
    const value = this.#value;
    const abort = new LinkedAbort(signal);
    void this.#abortWhenLost(abort);
    const stopTimer = value.isResting ? () => {} : systemClock.after(besideMs, () => abort.abort());
    try {
      const start = async (): Promise<unknown> => this.#upstream.read?.(abort.signal);
      const frame = await untilAborted({ start, signal: abort.signal, doing: this.#doing });
      return () => value.readOnce(frame);
    } catch (cause) {
      if (signal.aborted) throw createAbortedError(signal, this.#doing);
      return value.isLost || abort.signal.aborted ? undefined : () => value.failOnce(staleReasonOf(cause), cause);
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

  get #canRead(): boolean {
    if (this.#upstream.read === undefined || this.#value.isLost) return false;
    return this.#value.isResting || this.#upstream.isReadWhileOpen !== false;
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
