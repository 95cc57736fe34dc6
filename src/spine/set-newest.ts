/**
 * Sets an entry of a map as its newest, and deletes the oldest entry when there are more than `max`.
 *
 * @returns the key that was deleted.
 */
export function setNewest<TKey, TValue>(
  map: Map<TKey, TValue>,
  [key, value]: readonly [TKey, TValue],
  max: number,
): TKey | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return undefined;
  const [oldest] = map.keys();
  // A map of more than none has a first key.
  map.delete(oldest as TKey);
  return oldest;
}
