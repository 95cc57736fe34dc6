import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { defaultPollMs } from "../polled.ts";
import { runMasked, subscribeMasked } from "./author-code.ts";
import { canonical } from "./canonical.ts";
import { CheckedOnce } from "./checked-once.ts";
import { concerns, toKeyed, type CollectionSource, type Keyed, type WantedKey } from "./keyed.ts";
import { LatestIterator, type Followed } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";
import { toAbsentSchema, toListSchema } from "./part-schemas.ts";
import { Recent } from "./recent.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";
import { SourceReader } from "./source-reader.ts";

/** Of how many parts the watches are shared; those of a part that is forgotten go on. */
const maxParts = 256;

/** A part of a collection that is watched, its keys or one item: to a source that answers at once, and to any other. */
interface Part {
  /** Names it among the parts. */
  readonly id: string;
  readonly followed: Followed<unknown>;
  readonly sampled: Pick<SampledSource, "schema" | "read">;
}

/** Owns a collection's source: reads keys and items, validates what it reads, and lets them be watched. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: Keyed;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #reader: SourceReader;
  readonly #sampled = new Recent<SampledWatches>(maxParts);

  constructor(member: MemberOfKind<"collection">, source: CollectionSource, setting: OwnerSetting) {
    this.#member = member;
    this.#source = toKeyed(source);
    this.#setting = setting;
    this.#check = { where: `collection "${setting.key}"`, report: setting.report };
    this.#reader = new SourceReader(setting.scope, this.#check);
  }

  /** The keys now. @throws SurfaceError `INVALID_OUTPUT` when one does not fit its schema. */
  async keys(use: UseOptions): Promise<readonly unknown[]> {
    const raw = await this.#reader.read(use, (given) => this.#source.keys(given));
    // A source gives an iterable; anything else throws here.
    const keys = runMasked(this.#check, () => [...(raw as Iterable<unknown>)]);
    return Object.freeze(await Promise.all(keys.map(async (key) => checkOutput(this.#member.key, key, this.#check))));
  }

  /** The item now, validated on each read, or `undefined` at once where there is none. @throws SurfaceError `VALIDATION_ERROR`. */
  async item(given: unknown, use: UseOptions): Promise<unknown> {
    return this.#checkItem(await this.#rawItem(await this.#want(given), use));
  }

  /** The keys now, then after each change of them. */
  watchKeys(use: UseOptions): AsyncIterable<readonly unknown[]> {
    // What is read of this part is a list of keys.
    return this.#watch(async () => this.#keysPart(), use) as AsyncIterable<readonly unknown[]>;
  }

  /** The item now, then after each change of it; `undefined` while there is none. */
  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#watch(async () => this.#itemPart(await this.#want(given)), use);
  }

  #keysPart(): Part {
    let known: { readonly text: string; readonly keys: readonly unknown[] } | undefined;
    const read = async (): Promise<readonly unknown[]> => {
      const keys = await this.keys({});
      const text = canonical(keys);
      // The same array while they are the same: then there was no change.
      if (known?.text !== text) known = { text, keys };
      return known.keys;
    };
    const readRaw = async (use: UseOptions): Promise<unknown> => {
      const raw = await this.#reader.readRaw(use, (given) => this.#source.keys(given));
      // As above.
      return [...(raw as Iterable<unknown>)];
    };
    return {
      id: "keys",
      followed: { read, listen: (changed) => this.#listen(changed) },
      sampled: { schema: toListSchema(this.#member.key), read: readRaw },
    };
  }

  #itemPart(wanted: WantedKey): Part {
    const checked = new CheckedOnce((raw) => this.#checkItem(raw));
    return {
      id: `item ${canonical(wanted.given)}`,
      followed: {
        read: async () => checked.of(await this.#rawItem(wanted, {})),
        listen: (changed) => this.#listen(changed, wanted),
      },
      sampled: {
        schema: toAbsentSchema(this.#member.schema),
        read: (use) => this.#reader.readRaw(use, (given) => this.#source.item(wanted, given)),
      },
    };
  }

  #watch(toPart: () => Promise<Part>, use: UseOptions): AsyncIterable<unknown> {
    const open = async (signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
      const part = await toPart();
      const isSampled =
        this.#source.subscribe === undefined || this.#reader.answersLater((given) => this.#source.keys(given));
      return isSampled ? this.#sample(part).watch({ signal }) : new LatestIterator(part.followed);
    };
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }

  #sample({ id, followed, sampled }: Part): SampledWatches {
    const { subscribe, pollMs = defaultPollMs } = this.#source;
    const listen = subscribe === undefined ? undefined : (changed: () => void) => followed.listen(changed);
    return this.#sampled.of(
      id,
      () => new SampledWatches({ kind: this.kind, ...sampled, listen, pollMs }, this.#setting),
    );
  }

  /** Listens to the changes of one item, or to all. */
  #listen(changed: () => void, wanted?: WantedKey): () => void {
    return subscribeMasked(this.#check, () =>
      this.#source.subscribe?.((change) => {
        if (wanted === undefined || concerns(change, wanted)) changed();
      }),
    );
  }

  async #want(given: unknown): Promise<WantedKey> {
    return { given, valid: await checkOwnedInput(this.#member.key, given, this.#check) };
  }

  #rawItem(wanted: WantedKey, use: UseOptions): unknown {
    return this.#reader.read(use, (given) => this.#source.item(wanted, given));
  }

  #checkItem(raw: unknown): unknown {
    return raw === undefined ? undefined : checkOutput(this.#member.schema, raw, this.#check);
  }
}
