import type { CollectionClient } from "../client.ts";
import type { PushedCollection } from "../pushed-collection.ts";

/** What a derived collection may be told. */
export interface DeriveCollectionOptions<TKey, TValue> {
  /**
   * An item that does not pass is not there: neither listed nor read. Which items pass is known by looking at them all,
   * so upstream may hold at most 1,000 of them.
   */
  readonly filter?: (value: TValue, key: TKey) => boolean;
}

/** Derives a collection from one of another surface, item by item, in the order of its keys. */
export function deriveCollection<$Key, $Value, $Out>(
  upstream: CollectionClient<$Key, $Key, $Value>,
  map: (value: $Value, key: $Key) => $Out,
  options?: DeriveCollectionOptions<$Key, $Value>,
): PushedCollection<$Key, $Key, $Out>;
export function deriveCollection(): PushedCollection<unknown, unknown, unknown> {
  throw new Error("not yet");
}
