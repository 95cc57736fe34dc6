import { checkInputMasked } from "../check-value.ts";
import type { Schema } from "../../schema/standard.ts";
import type { PageOptions, UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { canonical } from "./canonical.ts";
import {
  concerns,
  emptyFilterOf,
  readPage,
  createPageError,
  toAbsentSchema,
  createCollectionReader,
  toListSchema,
  toPageSchema,
  type PageRequest,
  type CollectionSource,
  type CollectionReader,
  type RequestedKey,
} from "./collection-source.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { PartReader, type SourcePart } from "./source-reader.ts";
import { whenThere } from "./waiting.ts";

/** Owns the source of a collection: reads keys, pages and items, validates them, and lets clients watch them. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: CollectionReader;
  readonly #reader: PartReader;
  readonly #all: unknown;
  readonly #keysPart: SourcePart;
  readonly #itemSchema: Schema;

  constructor(member: MemberOfKind<"collection">, given: CollectionSource, deps: OwnerDeps) {
    const source = createCollectionReader(given);
    const { subscribe, pollMs } = source;
    this.#member = member;
    this.#source = source;
    const listen = ({ wanted }: SourcePart, changed: () => void): unknown =>
      subscribe?.((change) => {
        if (wanted === undefined || concerns(change, wanted)) changed();
      });
    this.#reader = new PartReader(deps, { kind: this.kind, subscribe: subscribe && listen, pollMs });
    this.#all = emptyFilterOf(member.filter, this.#reader.check.where);
    this.#itemSchema = toAbsentSchema(member.schema);
    this.#keysPart = {
      id: () => "keys",
      // A source returns an iterable by its type. Any other value throws here, and the error is masked.
      raw: (use) => whenThere(source.keys(use, this.#all), (keys) => [...(keys as Iterable<unknown>)]),
      schema: toListSchema(member.key),
      isList: true,
    };
  }

  async keys(use: UseOptions): Promise<unknown> {
    return this.#reader.read(this.#keysPart, use);
  }

  /** Returns the item, validated on each read, or `undefined` if it is absent. @throws SurfaceError `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    return this.#reader.read(this.#itemPart(await this.#requestedKey(given)), use);
  }

  async list(given: PageOptions, use: UseOptions): Promise<unknown> {
    return this.#reader.read(await this.#pagePart(given), use);
  }

  watchKeys(use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(() => this.#keysPart, use);
  }

  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(async () => this.#itemPart(await this.#requestedKey(given)), use);
  }

  watchList(given: PageOptions, use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(async () => this.#pagePart(given), use);
  }

  #itemPart(wanted: RequestedKey): SourcePart {
    return {
      id: () => `item ${canonical(wanted.given)}`,
      raw: (use) => this.#source.item(wanted, use),
      schema: this.#itemSchema,
      wanted,
    };
  }

  async #pagePart(given: PageOptions): Promise<SourcePart> {
    const asked = await this.#requestedPage(given);
    return {
      id: () => `page ${canonical(asked)}`,
      raw: (use) => this.#source.page(asked, use),
      schema: toPageSchema(this.#member, asked.limit),
      isList: true,
    };
  }

  async #requestedPage(given: PageOptions): Promise<PageRequest> {
    const { check } = this.#reader;
    const page = readPage(given, check.where);
    if (page.filter === undefined) return { ...page, filter: this.#all };
    const { filter } = this.#member;
    if (filter === undefined) throw createPageError(check.where, "filter", "the collection has no filter");
    return { ...page, filter: await checkInputMasked(filter, page.filter, check) };
  }

  async #requestedKey(given: unknown): Promise<RequestedKey> {
    return { given, valid: await checkInputMasked(this.#member.key, given, this.#reader.check) };
  }
}
