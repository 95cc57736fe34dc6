import { SurfaceError } from "../../errors.ts";
import { standardOf, type Schema } from "../../schema/standard.ts";
import { LinkedAbort } from "../../spine/signals.ts";
import type { UseOptions } from "../client.ts";
import { andThen } from "../is-thenable.ts";
import { toReading, type Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { canonical } from "./canonical.ts";
import { createSchema } from "./collection-source.ts";
import type { OwnerDeps } from "./handler-context.ts";
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
  readonly schema: Schema;
  /** Returns the raw value, or a promise of it. It may be a `Stale` one. */
  readonly read: (use: UseOptions) => unknown;
  /** Calls `changed` after each change; returns a function that stops it. Left out: the source is polled. */
  readonly listen?: ((changed: () => void) => () => void) | undefined;
  /** Milliseconds from the end of a read to the next, of a polled source. */
  readonly pollMs: number;
}

/** The watches of a source that is polled, or that answers later. All share one read at a time. The same content is no change. */
class SampledPart {
  readonly #source: SampledSource;
  readonly #where: string;
  readonly #owner: PushedCellOwner;
  readonly #due = new WaitQueue();
  /** The last content that watchers have received. */
  #last: { readonly text: string; readonly value: unknown } | undefined;
  /** The content that clients have read since, if it differs; empty, which no content is, if they have read several. */
  #other: string | undefined;
  #isDue = false;
  #begun = 0;
  /** Number of the last sample that was read, or that failed. */
  #ended = 0;

  constructor(source: SampledSource, deps: OwnerDeps) {
    this.#source = source;
    this.#where = `${source.kind} "${deps.key}"`;
    const upstream = { open: (signal: AbortSignal) => this.#samples(signal) };
    const schema = toSampleSchema(source.schema, (value) => this.#take(value));
    this.#owner = new PushedCellOwner({ kind: source.kind, schema }, upstream, deps);
  }

  /** Returns the value, then each change. The first value of each watcher is from a sample that begins after it has joined. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const begun = this.#begun;
    this.#makeDue();
    return this.#owner.watch(use, () => this.#ended > begun);
  }

  /** Records a value that a client has read. A source that is not polled is sampled again, since that value may be the older one. */
  note(value: unknown): void {
    const text = canonical(value);
    if (this.#last?.text === text) return;
    this.#other = this.#other === undefined || this.#other === text ? text : "";
    if (this.#source.listen !== undefined) this.#makeDue();
  }

  /** Returns the value of a sample, or the value before if the content is the same. A client that has read another content must be told. */
  #take(value: unknown): unknown {
    const text = canonical(value);
    const isFirst = this.#last === undefined;
    if (this.#last?.text !== text) this.#last = { text, value };
    else if (this.#other !== undefined && this.#other !== text) this.#owner.renew();
    // The first sample is no change, so it has announced nothing.
    if (!isFirst || this.#other === text) this.#other = undefined;
    return this.#last.value;
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
  readonly #parts = new Map<string, { readonly watches: SampledPart; users: number }>();

  constructor(deps: OwnerDeps) {
    this.#deps = deps;
  }

  /** Records a value that a client has read, and returns it: the part may change and change back between two samples. */
  record(value: unknown, toId: () => string): unknown {
    if (this.#parts.size === 0) return value;
    return andThen(value, (checked) => {
      this.#parts.get(toId())?.watches.note(checked);
      return checked;
    });
  }

  /** Returns the value of a part, then each change. `source` is used if the part is not watched yet. */
  async *watch(id: string, source: SampledSource, signal: AbortSignal): AsyncGenerator {
    const part = this.#parts.get(id) ?? { watches: new SampledPart(source, this.#deps), users: 0 };
    this.#parts.set(id, part);
    part.users += 1;
    try {
      yield* part.watches.watch({ signal });
    } finally {
      part.users -= 1;
      if (part.users === 0) this.#parts.delete(id);
    }
  }
}
