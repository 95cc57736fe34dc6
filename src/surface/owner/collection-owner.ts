import { SurfaceError } from "../../errors.ts";
import { checkInput, checkOutput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import type { KeyedSource, Source } from "../source.ts";
import { canonical } from "./canonical.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";

/** What a collection is implemented by: a source of a map, or key by key. */
export type CollectionSource = Source<ReadonlyMap<unknown, unknown>> | KeyedSource<unknown, unknown>;

/** Reads a source of a map key by key. */
function toKeyed(source: CollectionSource): KeyedSource<unknown, unknown> {
  if ("keys" in source) return source;
  return {
    keys: () => source.get().keys(),
    get: (key) => source.get().get(key),
    subscribe: (fn) => source.subscribe(() => fn({ set: [], removed: [] })),
  };
}

/** Owns a collection's source: reads keys and items, validates each once, and lets them be watched. */
export class CollectionOwner {
  readonly kind = "collection";
  readonly #member: MemberOfKind<"collection">;
  readonly #source: KeyedSource<unknown, unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #items = new WeakMap<object, unknown>();
  #keyList: { readonly text: string; readonly keys: readonly unknown[] } | undefined;

  constructor(member: MemberOfKind<"collection">, source: CollectionSource, setting: OwnerSetting) {
    this.#member = member;
    this.#source = toKeyed(source);
    this.#setting = setting;
    this.#check = { where: `collection "${setting.key}"`, report: setting.report };
  }

  /** The keys now. The same array as before while they are the same, so that watchers see no change. */
  async keys(): Promise<readonly unknown[]> {
    const keys = await Promise.all([...this.#source.keys()].map((key) => this.#checkKey(key)));
    const text = canonical(keys);
    if (this.#keyList?.text !== text) this.#keyList = { text, keys: Object.freeze(keys) };
    return this.#keyList.keys;
  }

  /** The item under a key, or `undefined` at once where there is none. */
  async item(key: unknown): Promise<unknown> {
    const wanted = await checkInput(this.#member.key, key, this.#check.where);
    return this.#read(wanted);
  }

  watchKeys(use: UseOptions): AsyncIterable<readonly unknown[]> {
    return this.#watch(() => this.keys(), use);
  }

  watchItem(key: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#watch(() => this.item(key), use);
  }

  #watch<TValue>(read: () => Promise<TValue>, use: UseOptions): AsyncIterable<TValue> {
    const listen = (changed: () => void): (() => void) => this.#source.subscribe(changed);
    return new LatestIterator({ read, listen, scope: this.#setting.scope, use });
  }

  #checkKey(key: unknown): unknown {
    return checkOutput(this.#member.key, key, this.#check);
  }

  #read(wanted: unknown): unknown {
    const raw = this.#source.get(this.#find(wanted));
    if (raw === undefined) return undefined;
    if (typeof raw !== "object" || raw === null) return checkOutput(this.#member.schema, raw, this.#check);
    const known = this.#items.get(raw);
    if (known !== undefined) return known;
    const value = checkOutput(this.#member.schema, raw, this.#check);
    if (!(value instanceof Promise)) this.#items.set(raw, value);
    return value;
  }

  /** The source's own key: a scalar is itself, an object is found by its fields. */
  #find(wanted: unknown): unknown {
    if (typeof wanted !== "object" || wanted === null) return wanted;
    const text = canonical(wanted);
    for (const key of this.#source.keys()) if (canonical(key) === text) return key;
    return undefined;
  }
}

/** Refuses what is neither kind of source. @throws SurfaceError `MISSING_HANDLER`. */
export function assertCollectionSource(value: unknown, where: string): asserts value is CollectionSource {
  const fits = typeof value === "object" && value !== null && "get" in value && "subscribe" in value;
  if (!fits)
    throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: it needs a source with get() and subscribe()`);
}
