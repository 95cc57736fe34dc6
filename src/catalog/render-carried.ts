import { Stale } from "../surface/reading.ts";
import type { ResourceContent } from "./entry.ts";
import { jsonMimeType } from "./resource-content.ts";

/** Under which key of `_meta` the contents of a resource say that they are not known to be the newest. */
export const staleMetaKey = "surface-mcp/stale";

/** Writes what a channel carries: a value as `render` does, and of a stale one besides why and since when. */
export function renderCarried<TValue>(
  carried: unknown,
  render: (value: TValue) => string | undefined,
): ResourceContent | undefined {
  const value = carried instanceof Stale ? carried.value : carried;
  // The verb was asked of a member of this kind: a channel answers it with such a value, or with a stale one.
  const text = render(value as TValue);
  if (text === undefined || !(carried instanceof Stale)) return text;
  const { reason, since } = carried.staleness;
  return { mimeType: jsonMimeType, text, meta: { [staleMetaKey]: { reason, since } } };
}
