import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { setNewest } from "../../spine/collections.ts";
import type { Schema } from "../../schema/standard.ts";
import { checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { PageOptions, UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { defaultPollMs, type CollectionPage } from "../source.ts";
import { type PushedOrigin, kPushedCollection, type CollectionOrigin, type PushedCollection } from "../pushed.ts";
import { fromReading, toReading, type Reading } from "../reading.ts";
import { checkedSchema, toAbsentSchema, toListSchema } from "./part-schemas.ts";
import { canonical } from "./canonical.ts";
import { toPage } from "./keyed.ts";
import type { OwnerSetting } from "./owner.ts";
import { pageOfKeys, readPage, refusePage, type AskedPage } from "./page.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";
import { fromPushed } from "./upstream.ts";

type AnyCollection = PushedCollection<unknown, unknown, unknown>;

/** Of how many items what was read last is remembered; the least recently used one is forgotten first. */
const maxItems = 256;

/** Whether a value is a {@link PushedCollection}. */
export function isPushedCollection(value: unknown): value is AnyCollection {
  return typeof value === "object" && value !== null && kPushedCollection in value;
}

/**
 * Owns a collection whose keys and items come by and by. Its keys are read and watched as one cell would be, and so is each
 * item: what came stands until the next, as stale while there can be none, and is opened once for all who watch it.
 */
export class PushedCollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #origin: CollectionOrigin<unknown, unknown, unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #keys: PushedCellOwner;
  readonly #itemSchema: Schema;
  readonly #pages: SampledWatches;
  readonly #items = new Map<string, PushedCellOwner>();

  constructor(member: MemberOfKind<"collection">, source: AnyCollection, setting: OwnerSetting) {
    const origin = source[kPushedCollection];
    this.#member = member;
    this.#origin = origin;
    this.#setting = setting;
    this.#check = { where: `collection "${setting.key}"`, report: setting.report };
    this.#pages = new SampledWatches(setting);
    this.#itemSchema = toAbsentSchema(member.schema);
    this.#keys = this.#own(toListSchema(member.key), { open: origin.watchKeys, read: origin.keys });
  }

  /** The keys now, or stale ones. @throws SurfaceError as the owner of a pushed cell. */
  async keys(use: UseOptions): Promise<readonly unknown[]> {
    // What its schema gives; where it is stale, that stands in its place, as everywhere on a channel.
    return (await this.#keys.get(use)) as readonly unknown[];
  }

  /** The item now, or a stale one; `undefined` where there is none. @throws SurfaceError as `keys`, and `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    return this.#item(await this.#want(given)).get(use);
  }

  /** A page now, or a stale one: each of its items is read. @throws SurfaceError as `keys`, and `VALIDATION_ERROR`. */
  async list(given: PageOptions, use: UseOptions): Promise<CollectionPage<unknown, unknown>> {
    const asked = this.#ask(given);
    const all = toReading(await this.keys(use));
    // What its schema gives.
    const { keys, next } = pageOfKeys(all.value as readonly unknown[], asked);
    const read = async (key: unknown): Promise<Reading> => toReading(await this.#item(key).get(use));
    const items = await Promise.all(keys.map(read));
    const { stale } = [all, ...items].find((reading) => reading.stale !== undefined) ?? all;
    const value = toPage(
      keys,
      items.map((item) => item.value),
      next,
    );
    // Where it is stale, that stands in its place, as everywhere on a channel.
    return fromReading(stale === undefined ? { value } : { value, stale }) as CollectionPage<unknown, unknown>;
  }

  /** The page now, then after each change, also of whether it is stale: it is read again every 2 seconds. */
  watchList(given: PageOptions, use: UseOptions): AsyncIterable<CollectionPage<unknown, unknown>> {
    const open = (signal: AbortSignal): AsyncIterable<unknown> => {
      const asked = this.#ask(given);
      const read = (own: UseOptions): Promise<unknown> => this.list(asked, own);
      const source: SampledSource = { kind: this.kind, schema: checkedSchema, read, pollMs: defaultPollMs };
      return this.#pages.watch(canonical(asked), source, signal);
    };
    const watch = new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
    // As `read` gives.
    return watch as AsyncIterable<CollectionPage<unknown, unknown>>;
  }

  /** The keys now, then after each change, also of whether they are stale. */
  watchKeys(use: UseOptions): AsyncIterable<readonly unknown[]> {
    // As above.
    return this.#keys.watch(use) as AsyncIterable<readonly unknown[]>;
  }

  /** The item now, then after each change, also of whether it is stale. */
  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    return new OwnedIterator({
      open: async (signal) => {
        const key = await this.#want(given);
        return this.#item(key).watch({ signal });
      },
      scope: this.#setting.scope,
      signal: use.signal,
    });
  }

  /** @throws SurfaceError `VALIDATION_ERROR`. */
  #ask(given: PageOptions): AskedPage {
    const asked = readPage(given, this.#check.where);
    if (asked.filter === undefined) return asked;
    throw refusePage(this.#check.where, "filter", "the collection has no filter");
  }

  async #want(given: unknown): Promise<unknown> {
    return checkOwnedInput(this.#member.key, given, this.#check);
  }

  #item(key: unknown): PushedCellOwner {
    const id = canonical(key);
    const known = this.#items.get(id);
    const owner = known ?? this.#own(this.#itemSchema, this.#itemOrigin(key));
    // One that is forgotten while it is in use goes on for those who use it.
    setNewest(this.#items, [id, owner], maxItems);
    return owner;
  }

  #itemOrigin(key: unknown): PushedOrigin<unknown> {
    const { item, watchItem } = this.#origin;
    return { open: (signal) => watchItem(key, signal), read: (signal) => item(key, signal) };
  }

  #own(schema: Schema, origin: PushedOrigin<unknown>): PushedCellOwner {
    return new PushedCellOwner({ kind: "collection", schema }, fromPushed(origin), this.#setting);
  }
}
