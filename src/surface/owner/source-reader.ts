import { SurfaceError } from "../../errors.ts";
import { isFunction } from "../../options/is-object.ts";
import type { Schema } from "../../schema/standard.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { Scope } from "../../spine/scope.ts";
import { LinkedAbort, untilAborted } from "../../spine/signals.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import { asPackageError, handleRejection, maskFault, runUnawaited } from "../fault.ts";
import { andThen, isThenable } from "../is-thenable.ts";
import type { MemberOfKind } from "../member.ts";
import { createSteady } from "./canonical.ts";
import type { RequestedKey } from "./collection-source.ts";
import { FaultDeduplicator } from "./first-faults.ts";
import { createCheckOnce, LatestIterator } from "./latest-iterator.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { type SampledSource, SampledWatches } from "./sampled-watches.ts";
import { type AsyncSource, defaultPollMs, type SourceUse } from "../source.ts";

/** Subscribes to a source, and masks the author's errors. A result that is no function is a fault: nothing could end the subscription. */
function subscribeMasked(check: OutputCheck, subscribe: () => unknown): () => void {
  const mask = (cause: unknown): Error => maskFault(cause, check.where, check.report);
  let stop: unknown;
  try {
    stop = subscribe();
  } catch (cause) {
    throw mask(cause);
  }
  if (!isFunction(stop)) {
    handleRejection(stop, mask);
    const message = `Cannot subscribe to ${check.where}: subscribe() must return a function that stops the subscription`;
    throw mask(new SurfaceError("INTERNAL", message));
  }
  const end = stop;
  return () => runUnawaited(end, mask);
}

/** Context of one read. Its signal is created only if the source uses it. */
class OneRead implements SourceUse {
  readonly #use: UseOptions;
  readonly #scope: Scope;
  #linked: LinkedAbort | undefined;
  #isOver = false;

  constructor(use: UseOptions, scope: Scope) {
    this.#use = use;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    // After the end of the read, nothing would unlink it from the other signals.
    this.#linked ??= this.#isOver ? new LinkedAbort() : new LinkedAbort(this.#use.signal, this.#scope.signal);
    return this.#linked.signal;
  }

  end(): void {
    this.#isOver = true;
    this.#linked?.dispose();
  }
}

const ignore = (): void => {};

/** A part of a source that is read and watched by itself: a cell, or the keys, a page or an item of a collection. */
export interface SourcePart {
  /** Returns its identity among the parts of the source. */
  readonly id: () => string;
  readonly raw: (use: SourceUse) => unknown;
  readonly schema: Schema;
  /** Whether every read returns a new object, so that only its content tells whether it has changed. @default false */
  readonly isList?: boolean;
  /** The item whose changes concern it. @default all changes do */
  readonly wanted?: RequestedKey;
}

interface PartedSource {
  readonly kind: "cell" | "collection";
  /** Calls `changed` after each change of a part; returns a function that stops it. Without it, the source is polled. */
  readonly subscribe: ((part: SourcePart, changed: () => void) => unknown) | undefined;
  readonly pollMs: number | undefined;
}

/** Reads and watches the parts of a source, at once or later. A pending read ends when its reader leaves; `close()` awaits the source. */
export class PartReader {
  readonly check: OutputCheck;
  readonly #deps: OwnerDeps;
  readonly #source: PartedSource;
  readonly #faults: FaultDeduplicator;
  /** Whether the source answers by a promise. */
  #isAsync: boolean | undefined;
  /** Created with the first watch that samples the source. */
  #sampled: SampledWatches | undefined;

  constructor(deps: OwnerDeps, source: PartedSource) {
    this.check = { where: `${source.kind} "${deps.key}"`, report: deps.report };
    this.#deps = deps;
    this.#source = source;
    this.#faults = new FaultDeduplicator(this.check);
  }

  /** Returns the validated value of a part, or a promise of it if something waits. */
  read(part: SourcePart, use: UseOptions): unknown {
    const raw = this.#readMasked(part, use);
    if (raw instanceof Promise) return raw.then((late: unknown) => this.#accept(part, late));
    return this.#accept(part, raw);
  }

  /** Returns the value of a part, then each change. `toPart` runs when the client asks for the first value. */
  watch(toPart: () => SourcePart | Promise<SourcePart>, { signal }: UseOptions): AsyncIterable<unknown> {
    return new OwnedIterator({
      open: (own) => andThen(toPart(), (part) => this.#open(part, own)),
      scope: this.#deps.scope,
      signal,
    });
  }

  #accept(part: SourcePart, raw: unknown): unknown {
    const value = checkOutput(part.schema, raw, this.check);
    return this.#sampled === undefined ? value : this.#sampled.record(value, part.id);
  }

  #open(part: SourcePart, signal: AbortSignal): AsyncIterable<unknown> {
    const { kind, subscribe, pollMs = defaultPollMs } = this.#source;
    const listen = subscribe && ((changed: () => void) => subscribeMasked(this.check, () => subscribe(part, changed)));
    if (listen !== undefined && !this.#answersLater(part)) return this.#follow(part, listen);
    const read = (use: UseOptions): unknown => this.#readRaw(part, use);
    const source: SampledSource = { kind, schema: part.schema, read, listen, pollMs };
    this.#sampled ??= new SampledWatches(this.#deps);
    return this.#sampled.watch(part.id(), source, signal);
  }

  /** Watches a part of a source that answers at once and announces its changes. */
  #follow(part: SourcePart, listen: (changed: () => void) => () => void): AsyncIterable<unknown> {
    const check = (raw: unknown): unknown => checkOutput(part.schema, raw, this.check);
    const steady = createSteady();
    const keep = part.isList === true ? (raw: unknown) => andThen(check(raw), steady) : createCheckOnce(check);
    return new LatestIterator({ read: () => andThen(this.#readMasked(part, {}), keep), listen });
  }

  /** Returns true if the source answers by a promise. Reads it once if it has not been read yet. */
  #answersLater(part: SourcePart): boolean {
    if (this.#isAsync === undefined) {
      // The next reader of the source gets the outcome.
      try {
        handleRejection(this.#readRaw(part, {}), ignore);
      } catch {
        // As above.
      }
    }
    return this.#isAsync === true;
  }

  #readMasked(part: SourcePart, use: UseOptions): unknown {
    let answer: unknown;
    try {
      answer = this.#readRaw(part, use);
    } catch (cause) {
      throw maskFault(cause, this.check.where, this.check.report);
    }
    return answer instanceof Promise ? this.#masked(answer, use) : answer;
  }

  /** Reads without masking: throws the errors of the source. */
  #readRaw({ raw }: SourcePart, use: UseOptions): unknown {
    const read = new OneRead(use, this.#deps.scope);
    let answer: unknown;
    try {
      answer = raw(read);
    } catch (cause) {
      read.end();
      throw cause;
    }
    if (isThenable(answer)) {
      this.#isAsync = true;
      return this.#settle(answer, read);
    }
    this.#isAsync ??= false;
    read.end();
    return answer;
  }

  async #settle(answer: PromiseLike<unknown>, read: OneRead): Promise<unknown> {
    const work = Promise.resolve(answer);
    const forget = this.#deps.scope.add(() => work.then(ignore, ignore));
    work.then(forget, forget);
    try {
      return await untilAborted({ start: () => work, signal: read.signal, doing: `Reading ${this.check.where}` });
    } finally {
      read.end();
    }
  }

  async #masked(answer: Promise<unknown>, { signal }: UseOptions): Promise<unknown> {
    try {
      const value = await answer;
      this.#faults.clear();
      return value;
    } catch (cause) {
      // A reader that has left is no fault of the source. A deadline may be one: the source may hang.
      const isOver = signal?.aborted === true || this.#deps.scope.closed;
      if (isOver && asPackageError(cause)?.code !== "TIMEOUT") {
        throw maskFault(cause, this.check.where, this.check.report);
      }
      throw this.#faults.mask(cause);
    }
  }
}

/** Owns the source of a cell: reads it, validates its values, and lets clients watch it. */
export class CellOwner {
  readonly kind = "cell";
  readonly #reader: PartReader;
  readonly #whole: SourcePart;

  constructor({ schema }: MemberOfKind<"cell">, source: AsyncSource<unknown>, deps: OwnerDeps) {
    const subscribe = source.subscribe && ((_: SourcePart, changed: () => void) => source.subscribe?.(() => changed()));
    this.#reader = new PartReader(deps, { kind: this.kind, subscribe, pollMs: source.pollMs });
    this.#whole = { id: () => "", raw: (use) => source.get(use), schema };
  }

  /** Returns the value, or a promise of it, validated on each read: a source may change an object in place. @throws the masked error. */
  get(use: UseOptions): unknown {
    return this.#reader.read(this.#whole, use);
  }

  watch(use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(() => this.#whole, use);
  }
}
