import { setOwn } from "../../schema/json.ts";

/** Returns the entries of a map of a service; none if reading them throws, which `fail` receives. */
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

/** Returns whether two values are certainly equal. An object may have been changed in place. */
export function isSameValue(before: unknown, now: unknown): boolean {
  return Object.is(before, now) && (typeof now !== "object" || now === null);
}

/** Keys from the outermost value to a part of it. */
export type Path = readonly (string | number)[];

/** Changes a part of `root.value`, which must have objects or arrays down to there. */
export function setAt(root: { value: unknown }, path: Path, value: unknown): void {
  const keys = ["value", ...path];
  // The keys lead to objects and arrays down to the last one.
  const holder = keys.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key) as object, root);
  setOwn(holder, String(keys.at(-1)), value);
}
