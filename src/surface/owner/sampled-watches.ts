import { SurfaceError } from "../../errors.ts";
import { standardOf, type Schema } from "../../schema/standard.ts";
import { LinkedAbort } from "../../spine/signals.ts";
import type { UseOptions } from "../client.ts";
import { andThen } from "../is-thenable.ts";
import { toReading, type Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { canonical } from "./canonical.ts";
import { createSchema } from "./collection-source.ts";
import type { OwnerDeps } from "./owner.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { WaitQueue } from "./waiting.ts";

/** Milliseconds until the read of a watch is aborted: the default deadline of a call. */
const maxReadMs = 60_000;

/** A raw value in a new object, since a source may change the value in place. */
interface Sample {
  readonly raw: unknown;
}

/** Returns the schema of samples, which outputs the result of `keep` for the validated value. */
function toSampleSchema(schema: Schema, keep: (value: unknown) => unknown): Schema {
  return createSchema(async (sample) => {
    // Only samples are validated with it.
    const { raw } = sample as Sample;
    const result = await standardOf(schema).validate(raw);
    return result.issues === undefined ? { value: keep(result.value) } : result;
  });
}

/** A source, or a part of one, that is read again and again while it is watched. */
export interface SampledSource {
  readonly kind: "cell" | "collection";
  /** Schema of the raw value. */
  readonly schema: Schema;
  /** Returns the raw value, or a promise of it. It may be a `Stale` one. */
  readonly read: (use: UseOptions) => unknown;
  /** Calls `changed` after each change; returns a function that stops it. Left out: the source is polled. */
  readonly listen?: ((changed: () => void) => () => void) | undefined;
  /** Milliseconds from the end of a read to the next, of a polled source. */
  readonly pollMs: number;
}

/** Values that clients have read between two samples, and that differ from the sample before. */
interface UnseenReads {
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
class SampledContent {
  #last: { readonly text: string; readonly value: unknown } | undefined;
  #unseen: UnseenReads | undefined;

  /**
   * Returns the value of sample number `turn`, or the value before if the content is the same. Calls `renew` first if that is
   * a change all the same.
   */
  take(value: unknown, turn: number, renew: () => void): unknown {
    const text = canonical(value);
    if (this.#last?.text !== text) this.#last = { text, value };
    const unseen = this.#unseen;
    if (unseen === undefined) return this.#last.value;
    if (unseen.text === text) this.#unseen = undefined;
    else if (unseen.from < turn) {
      // A value read while this sample was being read may be the newer of the two.
      this.#unseen = unseen.to < turn ? undefined : { from: unseen.to, to: unseen.to, text: undefined };
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
    const unseen = this.#unseen ?? { from: turn, text };
    this.#unseen = { from: unseen.from, to: turn, text: unseen.text === text ? text : undefined };
    return true;
  }
}

/**
 * The watches of a source that is polled, or that answers later. All share one read at a time, from the first watcher to the last. A
 * value with the same content is no change.
 */
class SampledPart {
  readonly #source: SampledSource;
  readonly #where: string;
  readonly #onEnded: () => void;
  readonly #owner: PushedCellOwner;
  readonly #due = new WaitQueue();
  readonly #content = new SampledContent();
  #isDue = false;
  /** Number of samples that have begun. */
  #begun = 0;
  /** Number of the last sample that was read, or that failed. */
  #ended = 0;

  constructor(source: SampledSource, deps: OwnerDeps, onEnded: () => void) {
    this.#source = source;
    this.#onEnded = onEnded;
    this.#where = `${source.kind} "${deps.key}"`;
    const upstream = { open: (signal: AbortSignal) => this.#samples(signal) };
    const keep = (value: unknown): unknown => this.#content.take(value, this.#begun, () => this.#owner.renew());
    const schema = toSampleSchema(source.schema, keep);
    this.#owner = new PushedCellOwner({ kind: source.kind, schema }, upstream, deps);
  }

  /** Returns the value, then each change. The first value of each watcher is from a sample that begins after it has joined. */
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
    if (!this.#content.note(value, Math.max(this.#begun, 1)) || this.#source.listen === undefined) return;
    // If this value is newer than the last sample, the source calls its listener. If the sample may be newer, sample again.
    if (isOverlapped || this.#begun > this.#ended) this.#makeDue();
  }

  readonly #makeDue = (): void => {
    this.#isDue = true;
    this.#due.wake();
  };

  /** Yields a {@link Sample}, or a `Stale` one, at once and each time that it is due. */
  async *#samples(signal: AbortSignal): AsyncGenerator<Reading<Sample>> {
    const stop = this.#source.listen?.(this.#makeDue);
    try {
      while (!signal.aborted) {
        this.#isDue = false;
        this.#begun += 1;
        const reading = toReading(await this.#read(signal));
        yield { ...reading, value: { raw: reading.value } };
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

/** The watches of the parts of a source. A part is kept while it is watched: a page may be large. */
export class SampledWatches {
  readonly #deps: OwnerDeps;
  #ended = 0;
  readonly #parts = new Map<string, { readonly watches: SampledPart; users: number }>();

  constructor(deps: OwnerDeps) {
    this.#deps = deps;
  }

  /** Number of samples that have ended. Get it before a read, and pass it to {@link record}. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * Records a value that a client has read, and returns it. The part may have changed and changed back between two samples:
   * the next sample is compared with this value too.
   */
  record(value: unknown, toId: () => string, ended: number): unknown {
    if (this.#parts.size === 0) return value;
    return andThen(value, (checked) => {
      this.#parts.get(toId())?.watches.note(checked, this.#ended > ended);
      return checked;
    });
  }

  /** Returns the value of a part, then each change. `source` is used if the part is not watched yet. */
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
    return new SampledPart(source, this.#deps, () => (this.#ended += 1));
  }
}
