import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { runMasked, subscribeMasked } from "./author-code.ts";
import { canonical } from "./canonical.ts";
import { CheckedOnce } from "./checked-once.ts";
import { concerns, readKey, toKeyed, type CollectionSource, type Keyed, type WantedKey } from "./keyed.ts";
import { LatestIterator, type Followed } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";

/** Owns a collection's source: reads keys and items, validates what it reads, and lets them be watched. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: Keyed;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;

  constructor(member: MemberOfKind<"collection">, source: CollectionSource, setting: OwnerSetting) {
    this.#member = member;
    this.#source = toKeyed(source);
    this.#setting = setting;
    this.#check = { where: `collection "${setting.key}"`, report: setting.report };
  }

  /** The keys now. @throws SurfaceError `INVALID_OUTPUT` when one does not fit its schema. */
  async keys(): Promise<readonly unknown[]> {
    const raw = runMasked(this.#check, () => [...this.#source.keys()]);
    return Object.freeze(await Promise.all(raw.map(async (key) => checkOutput(this.#member.key, key, this.#check))));
  }

  /** The item under a key, validated on each read, or `undefined` at once where there is none. @throws SurfaceError `VALIDATION_ERROR`. */
  async item(given: unknown): Promise<unknown> {
    const raw = this.#raw(await this.#want(given));
    return raw === undefined ? undefined : this.#checkItem(raw);
  }

  /** The keys now, then after each change of them. */
  watchKeys(use: UseOptions): AsyncIterable<readonly unknown[]> {
    let known: { readonly text: string; readonly keys: readonly unknown[] } | undefined;
    const read = async (): Promise<readonly unknown[]> => {
      const keys = await this.keys();
      const text = canonical(keys);
      // The same array while they are the same: then there was no change.
      if (known?.text !== text) known = { text, keys };
      return known.keys;
    };
    return this.#watch({ read, listen: (changed) => this.#subscribe(() => changed()) }, use);
  }

  /** The item now, then after each change of it; `undefined` while there is none. */
  watchItem(given: unknown, use: UseOptions): AsyncIterable<unknown> {
    let wanted: WantedKey | undefined;
    const checked = new CheckedOnce((raw) => (raw === undefined ? undefined : this.#checkItem(raw)));
    const read = async (): Promise<unknown> => {
      wanted ??= await this.#want(given);
      return checked.of(this.#raw(wanted));
    };
    const listen = (changed: () => void): (() => void) =>
      this.#subscribe((change) => {
        if (wanted === undefined || concerns(change, wanted)) changed();
      });
    return this.#watch({ read, listen }, use);
  }

  #watch<TValue>(followed: Followed<TValue>, use: UseOptions): AsyncIterable<TValue> {
    const open = (): LatestIterator<TValue> => new LatestIterator(followed);
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }

  #subscribe(fn: Parameters<Keyed["subscribe"]>[0]): () => void {
    return subscribeMasked(this.#check, () => this.#source.subscribe(fn));
  }

  async #want(given: unknown): Promise<WantedKey> {
    return { given, valid: await checkOwnedInput(this.#member.key, given, this.#check) };
  }

  #raw(wanted: WantedKey): unknown {
    return runMasked(this.#check, () => readKey(this.#source, wanted));
  }

  #checkItem(raw: unknown): unknown {
    return checkOutput(this.#member.schema, raw, this.#check);
  }
}
