/** What a map of a service has, in its order; nothing, and `fail` is told, where it throws when it is looked at. */
export function entriesOf(
  map: object | undefined,
  fail: (cause: unknown) => void,
): readonly (readonly [key: string, value: unknown])[] {
  if (map === undefined) return [];
  try {
    return Object.entries(map);
  } catch (cause) {
    fail(cause);
    return [];
  }
}
