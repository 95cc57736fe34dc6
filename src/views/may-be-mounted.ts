import { headOf } from "../tags/near-names.ts";

/**
 * Whether a pattern may be meant for what is mounted: what that is called is not known before it is there.
 *
 * @param prefixes - the prefixes of mounts.
 */
export function mayBeMounted(pattern: string, prefixes: readonly string[]): boolean {
  // Of a mount without a prefix, anything may be.
  if (prefixes.includes("")) return true;
  const head = headOf(pattern);
  return prefixes.some((prefix) =>
    [`${prefix}.`, `${prefix}_`, `${prefix}/`].some(
      (begin) => head.startsWith(begin) || (head !== pattern && begin.startsWith(head)),
    ),
  );
}
