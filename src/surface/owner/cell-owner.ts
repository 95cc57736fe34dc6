import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { defaultPollMs, type AsyncSource } from "../source.ts";
import { CheckedOnce } from "./checked-once.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";
import { SourceReader, subscribeMasked, whenThere, type ReadSource } from "./source-reader.ts";

/** The only part of a cell. */
const toWhole = (): string => "";

/** Owns a cell's source: reads it, validates what it reads, and lets it be watched. */
export class CellOwner {
  readonly kind = "cell";
  readonly #member: MemberOfKind<"cell">;
  readonly #source: AsyncSource<unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #reader: SourceReader;
  /** Created with the first watch that samples the source. */
  #sampled: SampledWatches | undefined;

  constructor(member: MemberOfKind<"cell">, source: AsyncSource<unknown>, setting: OwnerSetting) {
    this.#member = member;
    this.#source = source;
    this.#setting = setting;
    this.#check = { where: `cell "${setting.key}"`, report: setting.report };
    this.#reader = new SourceReader(setting.scope, this.#check);
  }

  /**
   * The value now, validated on each read: a source may hold an object that it changes in place.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, or `INTERNAL` when the source throws.
   */
  get(use: UseOptions): unknown {
    const ended = this.#sampled?.ended ?? 0;
    const raw = this.#reader.read(use, this.#read);
    return raw instanceof Promise ? raw.then((late: unknown) => this.#accept(late, ended)) : this.#accept(raw, ended);
  }

  #accept(raw: unknown, ended: number): unknown {
    const value = this.#validate(raw);
    return this.#sampled === undefined ? value : this.#sampled.noted(value, toWhole, ended);
  }

  /** The value now, then each change, until `use.signal` fires or the surface closes. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const open = (signal: AbortSignal): AsyncIterable<unknown> => {
      const isSampled = this.#source.subscribe === undefined || this.#reader.answersLater(this.#read);
      if (!isSampled) return this.#follow();
      this.#sampled ??= new SampledWatches(this.#setting);
      return this.#sampled.watch(toWhole(), this.#sampledSource, signal);
    };
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }

  /** Watches a source that answers at once, and tells of changes. */
  #follow(): LatestIterator<unknown> {
    const checked = new CheckedOnce((raw) => this.#validate(raw));
    const read = (): unknown => whenThere(this.#reader.read({}, this.#read), (raw) => checked.of(raw));
    return new LatestIterator({ read, listen: this.#listen });
  }

  get #sampledSource(): SampledSource {
    return {
      kind: this.kind,
      schema: this.#member.schema,
      read: (use: UseOptions): unknown => this.#reader.readRaw(use, this.#read),
      listen: this.#source.subscribe === undefined ? undefined : this.#listen,
      pollMs: this.#source.pollMs ?? defaultPollMs,
    };
  }

  readonly #listen = (changed: () => void): (() => void) =>
    subscribeMasked(this.#check, () => this.#source.subscribe?.(() => changed()));

  readonly #read: ReadSource = (use) => this.#source.get(use);

  #validate(raw: unknown): unknown {
    return checkOutput(this.#member.schema, raw, this.#check);
  }
}
