import { LinkedAbort } from "../../spine/linked-abort.ts";
import { SurfaceError } from "../../errors.ts";
import type { Schema } from "../../schema/standard.ts";
import type { UseOptions } from "../client.ts";
import { fromReading, toReading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import type { OwnerSetting } from "./owner.ts";
import { toSampleSchema, type Sample } from "./part-schemas.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { ToldContent } from "./told-content.ts";
import { Wakeups } from "./wakeups.ts";

/** Milliseconds until a read that a watch makes is aborted: the default deadline of a call. */
const maxReadMs = 60_000;

/** A source, or a part of one, that is read again and again while it is watched. */
export interface SampledSource {
  readonly kind: "cell" | "collection";
  /** The schema of what `read` gives. */
  readonly schema: Schema;
  /** Reads the raw value, at once or later. May give a `Stale` one. */
  readonly read: (use: UseOptions) => unknown;
  /** Calls `changed` after each change; returns a function that stops it. Left out: the source is polled. */
  readonly listen?: ((changed: () => void) => () => void) | undefined;
  /** Milliseconds from the end of a read to the next, of a source that is polled. */
  readonly pollMs: number;
}

/**
 * The watches of a source that is polled, or that answers later: one read at a time for all of them, from the first watcher
 * to the last, as of any value that is pushed. A value with the same content is no change.
 */
export class SampledWatches {
  readonly #source: SampledSource;
  readonly #where: string;
  readonly #onEnded: () => void;
  readonly #owner: PushedCellOwner;
  readonly #due = new Wakeups();
  readonly #told = new ToldContent();
  #isDue = false;
  /** How many samples have begun. */
  #begun = 0;
  /** The number of the last sample that was read, or that failed. */
  #ended = 0;

  constructor(source: SampledSource, setting: OwnerSetting, onEnded: () => void) {
    this.#source = source;
    this.#onEnded = onEnded;
    this.#where = `${source.kind} "${setting.key}"`;
    const upstream = {
      open: (signal: AbortSignal) => this.#samples(signal),
      toFrame: toReading,
      isFinalAtEnd: false,
      isOpenedOnce: false,
    };
    const keep = (value: unknown): unknown => this.#told.take(value, this.#begun, () => this.#owner.renew());
    const schema = toSampleSchema(source.schema, keep);
    this.#owner = new PushedCellOwner({ kind: source.kind, schema }, upstream, setting);
  }

  /** The value now, then each change. The first value of each watcher comes from a sample that begins after it has joined. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const begun = this.#begun;
    this.#makeDue();
    return this.#owner.watch(use, () => this.#ended > begun);
  }

  /**
   * Records a value that a client has read.
   *
   * @param isOverlapped - Whether a sample has ended since that read began.
   */
  note(value: unknown, isOverlapped: boolean): void {
    // The first sample is no change, so it cannot announce this value: count from there.
    if (!this.#told.note(value, Math.max(this.#begun, 1)) || this.#source.listen === undefined) return;
    // If this value is newer than the last sample, the source calls its listener. If the sample may be newer, sample again.
    if (isOverlapped || this.#begun > this.#ended) this.#makeDue();
  }

  readonly #makeDue = (): void => {
    this.#isDue = true;
    this.#due.wake();
  };

  /** Gives a {@link Sample} after each change, or a `Stale` one. */
  async *#samples(signal: AbortSignal): AsyncGenerator {
    const stop = this.#source.listen?.(this.#makeDue);
    try {
      while (!signal.aborted) {
        this.#isDue = false;
        this.#begun += 1;
        const reading = toReading(await this.#read(signal));
        const sample: Sample = { raw: reading.value };
        yield fromReading({ ...reading, value: sample });
        await this.#untilDue(signal);
      }
    } finally {
      stop?.();
    }
  }

  async #read(signal: AbortSignal): Promise<unknown> {
    const abort = new LinkedAbort(signal);
    const stopTimer = systemClock.after(maxReadMs, () => abort.abort());
    try {
      return await this.#source.read({ signal: abort.signal });
    } catch (cause) {
      if (signal.aborted || !abort.signal.aborted) throw cause;
      throw new SurfaceError("INTERNAL", `Cannot read ${this.#where}: no answer within ${maxReadMs} ms`);
    } finally {
      this.#ended = this.#begun;
      this.#onEnded();
      stopTimer();
      abort.dispose();
    }
  }

  async #untilDue(signal: AbortSignal): Promise<void> {
    const { listen, pollMs } = this.#source;
    const stopTimer = listen === undefined ? systemClock.after(pollMs, this.#makeDue) : undefined;
    while (!this.#isDue && !signal.aborted) await this.#due.next(signal);
    stopTimer?.();
  }
}
