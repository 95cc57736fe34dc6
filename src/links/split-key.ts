/** The longest key of a surface, and so the longest that is worth taking apart. */
const maxKeyLength = 128;

/** A key of a composed surface, taken apart. */
export interface SplitKey<TSibling> {
  readonly sibling: TSibling;
  /** The sibling's own key. */
  readonly key: string;
}

/** Finds whose a key of a composed surface is: what stands before one of its dots names a sibling. */
export function splitKey<TSibling>(
  key: string,
  siblings: ReadonlyMap<string, TSibling>,
): SplitKey<TSibling> | undefined {
  // A far side may say any text, full of dots.
  if (key.length > maxKeyLength) return undefined;
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) {
    const sibling = siblings.get(key.slice(0, dot));
    if (sibling !== undefined) return { sibling, key: key.slice(dot + 1) };
  }
  return undefined;
}
