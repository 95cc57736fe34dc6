import type { Schema } from "../../schema/standard.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { PageOptions, UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { defaultPollMs, type CollectionPage } from "../source.ts";
import { canonical } from "./canonical.ts";
import { CheckedOnce } from "./checked-once.ts";
import { concerns, toKeyed, type CollectionSource, type Keyed, type WantedKey } from "./keyed.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";
import { readAll, readPage, refusePage, type AskedPage } from "./page.ts";
import { toAbsentSchema, toListSchema, toPageSchema } from "./part-schemas.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";
import { type ReadSource, SourceReader, subscribeMasked, whenThere } from "./source-reader.ts";
import { createSteady } from "./steady.ts";

/** A part of a collection: its keys, a page, or one item. */
interface Part {
  /** Names it among the parts. */
  readonly id: string;
  readonly raw: ReadSource;
  readonly schema: Schema;
  /** Checks what `raw` gives; returns the value before again where there is no change. */
  keep(raw: unknown): unknown;
  /** The item whose changes concern it. Left out: all changes do. */
  readonly wanted?: WantedKey;
}

const toKeysId = (): string => "keys";

const toItemId = ({ given }: WantedKey): string => `item ${canonical(given)}`;

/** Owns a collection's source: reads keys, pages and items, validates what it reads, and lets them be watched. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: Keyed;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #reader: SourceReader;
  /** The filter of all items, checked. */
  readonly #all: unknown;
  readonly #sampled: SampledWatches;

  constructor(member: MemberOfKind<"collection">, source: CollectionSource, setting: OwnerSetting) {
    this.#member = member;
    this.#source = toKeyed(source);
    this.#setting = setting;
    this.#check = { where: `collection "${setting.key}"`, report: setting.report };
    this.#reader = new SourceReader(setting.scope, this.#check);
    this.#sampled = new SampledWatches(setting);
    this.#all = readAll(member.filter, this.#check.where);
  }

  /** The keys now. @throws SurfaceError `INVALID_OUTPUT` when one does not fit its schema. */
  async keys(use: UseOptions): Promise<readonly unknown[]> {
    const { ended } = this.#sampled;
    const keys = await this.#checkKeys(await this.#reader.read(use, this.#rawKeys));
    return this.#sampled.noted(keys, toKeysId, ended);
  }

  /** The item now, validated on each read, or `undefined` at once where there is none. @throws SurfaceError `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    const wanted = await this.#want(given);
    const { ended } = this.#sampled;
    const item = this.#checkItem(await this.#reader.read(use, (asked) => this.#source.item(wanted, asked)));
    return this.#sampled.noted(item, () => toItemId(wanted), ended);
  }

  /** A page now. @throws SurfaceError `VALIDATION_ERROR`, or `INVALID_OUTPUT`. */
  async list(given: PageOptions, use: UseOptions): Promise<CollectionPage<unknown, unknown>> {
    const part = await this.#pagePart(given);
    const { ended } = this.#sampled;
    const page = await this.#checkPart(part, await this.#reader.read(use, part.raw));
    // Its schema gives pages.
    return this.#sampled.noted(page as CollectionPage<unknown, unknown>, () => part.id, ended);
  }

  /** The keys now, then after each change of them. */
  watchKeys(use: UseOptions): AsyncIterable<readonly unknown[]> {
    const toSteady = createSteady<readonly unknown[]>();
    const part = {
      id: toKeysId(),
      raw: this.#rawKeys,
      schema: toListSchema(this.#member.key),
      keep: async (raw: unknown) => toSteady(await this.#checkKeys(raw)),
    };
    // What is read of this part is a list of keys.
    return this.#watch(async () => part, use) as AsyncIterable<readonly unknown[]>;
  }

  /** The item now, then after each change of it; `undefined` while there is none. */
  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#watch(async () => this.#itemPart(await this.#want(given)), use);
  }

  /** The page now, then after each change of it. */
  watchList(given: PageOptions, use: UseOptions): AsyncIterable<CollectionPage<unknown, unknown>> {
    // What is read of this part is a page.
    return this.#watch(async () => this.#pagePart(given), use) as AsyncIterable<CollectionPage<unknown, unknown>>;
  }

  #itemPart(wanted: WantedKey): Part {
    const checked = new CheckedOnce((raw) => this.#checkItem(raw));
    return {
      id: toItemId(wanted),
      raw: (use) => this.#source.item(wanted, use),
      schema: toAbsentSchema(this.#member.schema),
      keep: (raw) => checked.of(raw),
      wanted,
    };
  }

  /** @throws SurfaceError `VALIDATION_ERROR`. */
  async #pagePart(given: PageOptions): Promise<Part> {
    const asked = await this.#ask(given);
    const toSteady = createSteady();
    const part: Part = {
      id: `page ${canonical(asked)}`,
      raw: (use) => this.#source.page(asked, use),
      schema: toPageSchema(this.#member, asked.limit),
      keep: async (raw) => toSteady(await this.#checkPart(part, raw)),
    };
    return part;
  }

  #watch(toPart: () => Promise<Part>, use: UseOptions): AsyncIterable<unknown> {
    const open = async (signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
      const part = await toPart();
      const isSampled = this.#source.subscribe === undefined || this.#reader.answersLater(part.raw);
      return isSampled ? this.#sampled.watch(part.id, this.#toSource(part), signal) : this.#follow(part);
    };
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }

  /** Watches a source that answers at once, and tells of changes. */
  #follow(part: Part): LatestIterator<unknown> {
    const read = async (): Promise<unknown> => part.keep(await this.#reader.read({}, part.raw));
    return new LatestIterator({ read, listen: (changed) => this.#listen(part, changed) });
  }

  #toSource(part: Part): SampledSource {
    const { subscribe, pollMs = defaultPollMs } = this.#source;
    return {
      kind: this.kind,
      schema: part.schema,
      read: (use: UseOptions): unknown => this.#reader.readRaw(use, part.raw),
      listen: subscribe === undefined ? undefined : (changed: () => void) => this.#listen(part, changed),
      pollMs,
    };
  }

  #listen({ wanted }: Part, changed: () => void): () => void {
    return subscribeMasked(this.#check, () =>
      this.#source.subscribe?.((change) => {
        if (wanted === undefined || concerns(change, wanted)) changed();
      }),
    );
  }

  async #ask(given: PageOptions): Promise<AskedPage> {
    const { where } = this.#check;
    const page = readPage(given, where);
    if (page.filter === undefined) return { ...page, filter: this.#all };
    const { filter } = this.#member;
    if (filter === undefined) throw refusePage(where, "filter", "the collection has no filter");
    return { ...page, filter: await checkOwnedInput(filter, page.filter, this.#check) };
  }

  async #want(given: unknown): Promise<WantedKey> {
    return { given, valid: await checkOwnedInput(this.#member.key, given, this.#check) };
  }

  // By the type of its source, it gives an iterable; anything else throws here, and is masked.
  readonly #rawKeys: ReadSource = (use) =>
    whenThere(this.#source.keys(use, this.#all), (keys) => [...(keys as Iterable<unknown>)]);

  async #checkKeys(raw: unknown): Promise<readonly unknown[]> {
    // As above.
    const keys = raw as readonly unknown[];
    return Object.freeze(await Promise.all(keys.map(async (key) => checkOutput(this.#member.key, key, this.#check))));
  }

  #checkItem(raw: unknown): unknown {
    return raw === undefined ? undefined : checkOutput(this.#member.schema, raw, this.#check);
  }

  #checkPart({ schema }: Part, raw: unknown): unknown {
    return checkOutput(schema, raw, this.#check);
  }
}
