import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { setNewest } from "../../spine/collections.ts";
import type { Schema } from "../../schema/standard.ts";
import { checkInputMasked, type OutputCheck } from "../check-value.ts";
import type { PageOptions, UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { defaultPollMs } from "../source.ts";
import {
  type CollectionOrigin,
  fromReading,
  kPushedCollection,
  type PushedCollection,
  type PushedOrigin,
  type Reading,
  toReading,
} from "../reading.ts";
import { canonical } from "./canonical.ts";
import {
  createSchema,
  pageOfKeys,
  readPage,
  createPageError,
  toAbsentSchema,
  toListSchema,
  toPage,
  type PageRequest,
} from "./collection-source.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";

type AnyCollection = PushedCollection<unknown, unknown, unknown>;

/** Number of items whose last value is kept. Beyond it the least recently used one goes. */
const maxItems = 256;

const checkedSchema = createSchema((value) => ({ value }));

/** Returns true for a {@link PushedCollection}. */
export function isPushedCollection(value: unknown): value is AnyCollection {
  return typeof value === "object" && value !== null && kPushedCollection in value;
}

/** Owns a collection whose keys and items arrive asynchronously: its keys, and each item, are read and watched like one cell. */
export class PushedCollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #origin: CollectionOrigin<unknown, unknown, unknown>;
  readonly #deps: OwnerDeps;
  readonly #check: OutputCheck;
  readonly #keys: PushedCellOwner;
  readonly #itemSchema: Schema;
  readonly #pages: SampledWatches;
  readonly #items = new Map<string, PushedCellOwner>();

  constructor(member: MemberOfKind<"collection">, source: AnyCollection, deps: OwnerDeps) {
    const origin = source[kPushedCollection];
    this.#member = member;
    this.#origin = origin;
    this.#deps = deps;
    this.#check = { where: `collection "${deps.key}"`, report: deps.report };
    this.#pages = new SampledWatches(deps);
    this.#itemSchema = toAbsentSchema(member.schema);
    this.#keys = this.#own(toListSchema(member.key), { open: origin.watchKeys, read: origin.keys });
  }

  async keys(use: UseOptions): Promise<unknown> {
    return this.#keys.get(use);
  }

  /** Returns the item, or a stale one; `undefined` if it is absent. @throws SurfaceError like `keys`, and `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    return this.#item(await this.#requestedKey(given)).get(use);
  }

  /** Reads each item of a page. Returns the page, or a stale one. @throws SurfaceError like `keys`, and `VALIDATION_ERROR`. */
  async list(given: PageOptions, use: UseOptions): Promise<unknown> {
    const asked = this.#requestedPage(given);
    const all = toReading(await this.keys(use));
    // By its schema.
    const { keys, next } = pageOfKeys(all.value as readonly unknown[], asked);
    const read = async (key: unknown): Promise<Reading> => toReading(await this.#item(key).get(use));
    const items = await Promise.all(keys.map(read));
    const { stale } = [all, ...items].find((reading) => reading.stale !== undefined) ?? all;
    const values = items.map((item) => item.value);
    const value = toPage(keys, values, next);
    return fromReading({ value, ...(stale && { stale }) });
  }

  /** Returns the page, then the page after each change, also of its staleness. Reads it every {@link defaultPollMs}. */
  watchList(given: PageOptions, use: UseOptions): AsyncIterable<unknown> {
    const open = (signal: AbortSignal): AsyncIterable<unknown> => {
      const asked = this.#requestedPage(given);
      const read = (own: UseOptions): Promise<unknown> => this.list(asked, own);
      const source: SampledSource = { kind: this.kind, schema: checkedSchema, read, pollMs: defaultPollMs };
      return this.#pages.watch(canonical(asked), source, signal);
    };
    return new OwnedIterator({ open, scope: this.#deps.scope, signal: use.signal });
  }

  watchKeys(use: UseOptions): AsyncIterable<unknown> {
    return this.#keys.watch(use);
  }

  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    const open = async (signal: AbortSignal): Promise<AsyncIterable<unknown>> =>
      this.#item(await this.#requestedKey(given)).watch({ signal });
    return new OwnedIterator({ open, scope: this.#deps.scope, signal: use.signal });
  }

  #requestedPage(given: PageOptions): PageRequest {
    const asked = readPage(given, this.#check.where);
    if (asked.filter === undefined) return asked;
    throw createPageError(this.#check.where, "filter", "the collection has no filter");
  }

  async #requestedKey(given: unknown): Promise<unknown> {
    return checkInputMasked(this.#member.key, given, this.#check);
  }

  #item(key: unknown): PushedCellOwner {
    const id = canonical(key);
    const { item, watchItem } = this.#origin;
    const owner =
      this.#items.get(id) ??
      this.#own(this.#itemSchema, { open: (signal) => watchItem(key, signal), read: (signal) => item(key, signal) });
    // An owner that is dropped here goes on for the clients that use it.
    setNewest(this.#items, [id, owner], maxItems);
    return owner;
  }

  #own(schema: Schema, origin: PushedOrigin<unknown>): PushedCellOwner {
    return new PushedCellOwner({ kind: "collection", schema }, origin, this.#deps);
  }
}
