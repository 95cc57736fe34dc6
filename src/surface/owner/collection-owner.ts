import { checkOutput, checkInputMasked } from "../check-value.ts";
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
import type { OwnerDeps } from "./owner.ts";
import { PartReader, type SourcePart } from "./source-reader.ts";
import { whenThere } from "./waiting.ts";

/** Owns the source of a collection: reads keys, pages and items, validates them, and lets clients watch them. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: CollectionReader;
  readonly #reader: PartReader;
  /** The validated filter that leaves out nothing. */
  readonly #all: unknown;
  readonly #keysPart: SourcePart;

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
    this.#keysPart = {
      id: () => "keys",
      // A source returns an iterable by its type. Any other value throws here, and the error is masked.
      raw: (use) => whenThere(source.keys(use, this.#all), (keys) => [...(keys as Iterable<unknown>)]),
      schema: toListSchema(member.key),
      // As above.
      check: async (raw) => this.#checkKeys(raw as readonly unknown[]),
      isList: true,
    };
  }

  /** Returns the keys. @throws SurfaceError `INVALID_OUTPUT` when one does not fit its schema. */
  async keys(use: UseOptions): Promise<unknown> {
    return this.#reader.read(this.#keysPart, use);
  }

  /** Returns the item, validated on each read, or `undefined` if it is absent. @throws SurfaceError `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    return this.#reader.read(this.#itemPart(await this.#requestedKey(given)), use);
  }

  /** Returns a page. @throws SurfaceError `VALIDATION_ERROR`, or `INVALID_OUTPUT`. */
  async list(given: PageOptions, use: UseOptions): Promise<unknown> {
    return this.#reader.read(await this.#pagePart(given), use);
  }

  /** Returns the keys, then the keys after each change of them. */
  watchKeys(use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(() => this.#keysPart, use);
  }

  /** Returns the item, then the item after each change of it; `undefined` while it is absent. */
  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(async () => this.#itemPart(await this.#requestedKey(given)), use);
  }

  /** Returns the page, then the page after each change of it. */
  watchList(given: PageOptions, use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(async () => this.#pagePart(given), use);
  }

  #itemPart(wanted: RequestedKey): SourcePart {
    const { schema } = this.#member;
    const { check } = this.#reader;
    return {
      id: () => `item ${canonical(wanted.given)}`,
      raw: (use) => this.#source.item(wanted, use),
      schema: toAbsentSchema(schema),
      check: (raw) => (raw === undefined ? undefined : checkOutput(schema, raw, check)),
      wanted,
    };
  }

  /** @throws SurfaceError `VALIDATION_ERROR`. */
  async #pagePart(given: PageOptions): Promise<SourcePart> {
    const asked = await this.#requestedPage(given);
    const schema = toPageSchema(this.#member, asked.limit);
    return {
      id: () => `page ${canonical(asked)}`,
      raw: (use) => this.#source.page(asked, use),
      schema,
      check: (raw) => checkOutput(schema, raw, this.#reader.check),
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

  async #checkKeys(keys: readonly unknown[]): Promise<readonly unknown[]> {
    const { check } = this.#reader;
    return Object.freeze(await Promise.all(keys.map(async (key) => checkOutput(this.#member.key, key, check))));
  }
}
