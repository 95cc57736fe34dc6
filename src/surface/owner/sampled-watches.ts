import { LinkedAbort } from "../../spine/signals.ts";
import { SurfaceError } from "../../errors.ts";
import type { Schema } from "../../schema/standard.ts";
import type { UseOptions } from "../client.ts";
import { fromReading, toReading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { canonical } from "./canonical.ts";
import type { OwnerSetting } from "./owner.ts";
import { toSampleSchema, type Sample } from "./part-schemas.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { whenThere } from "./source-reader.ts";
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

/** Values that clients have read between two samples, and that differ from the sample before. */
interface Doubt {
  /** Number of the last sample that had begun when the first of these values was read. */
  readonly from: number;
  /** The same, for the last of these values. */
  readonly to: number;
  /** The content of all these values; `undefined` if they differ. */
  readonly text: string | undefined;
}

/**
 * The last content that the watchers of a sampled source have received. A sample is a change if its content differs, or if a
 * client has read another content since: that client would otherwise keep an old value.
 */
class ToldContent {
  #last: { readonly text: string; readonly value: unknown } | undefined;
  #doubt: Doubt | undefined;

  /**
   * Returns the value of sample number `turn`, or the value before if the content is the same. Calls `renew` first if that is
   * a change all the same.
   */
  take(value: unknown, turn: number, renew: () => void): unknown {
    const text = canonical(value);
    if (this.#last?.text !== text) this.#last = { text, value };
    const doubt = this.#doubt;
    if (doubt === undefined) return this.#last.value;
    if (doubt.text === text) this.#doubt = undefined;
    else if (doubt.from < turn) {
      // A value read while this sample was being read may be the newer of the two.
      this.#doubt = doubt.to < turn ? undefined : { from: doubt.to, to: doubt.to, text: undefined };
      renew();
    }
    return this.#last.value;
  }

  /**
   * Records a value that a client has read. Returns whether its content differs from the last sample.
   *
   * @param turn - Number of the last sample that has begun.
   */
  note(value: unknown, turn: number): boolean {
    const text = canonical(value);
    if (this.#last?.text === text) return false;
    const doubt = this.#doubt ?? { from: turn, text };
    this.#doubt = { from: doubt.from, to: turn, text: doubt.text === text ? text : undefined };
    return true;
  }
}

/**
 * The watches of a source that is polled, or that answers later: one read at a time for all of them, from the first watcher
 * to the last, as of any value that is pushed. A value with the same content is no change.
 */
class SampledPart {
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

/** The watches of the parts of a source. Each part is kept for as long as it is watched: a page may be large. */
export class SampledWatches {
  readonly #setting: OwnerSetting;
  #ended = 0;
  readonly #parts = new Map<string, { readonly watches: SampledPart; users: number }>();

  constructor(setting: OwnerSetting) {
    this.#setting = setting;
  }

  /** Number of samples that have ended. Get it before a read, and pass it to {@link noted}. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * Records a value that a client has read, and returns it. The part may have changed and changed back between two samples:
   * the next sample is compared with this value too.
   */
  noted<TValue>(value: TValue, toId: () => string, ended: number): TValue | Promise<TValue> {
    if (this.#parts.size === 0) return value;
    return whenThere(value, (checked) => {
      this.#parts.get(toId())?.watches.note(checked, this.#ended > ended);
      // It is the value itself, or what its promise resolves to.
      return checked as TValue;
    });
  }

  /** The value of a part now, then each change. `source` is used if the part is not watched yet. */
  async *watch(id: string, source: SampledSource, signal: AbortSignal): AsyncGenerator {
    const part = this.#parts.get(id) ?? { watches: this.#create(source), users: 0 };
    this.#parts.set(id, part);
    part.users += 1;
    try {
      yield* part.watches.watch({ signal });
    } finally {
      part.users -= 1;
      if (part.users === 0) this.#parts.delete(id);
    }
  }

  #create(source: SampledSource): SampledPart {
    return new SampledPart(source, this.#setting, () => (this.#ended += 1));
  }
}
