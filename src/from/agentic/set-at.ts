import { setOwn } from "../../schema/json.ts";

/** Keys from the outermost value to a part of it. */
export type Path = readonly (string | number)[];

/** Changes a part of `root.value`, which must have objects or arrays down to there. */
export function setAt(root: { value: unknown }, path: Path, value: unknown): void {
  const keys = ["value", ...path];
  // The keys lead to objects and arrays down to the last one.
  const holder = keys.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key) as object, root);
  setOwn(holder, String(keys.at(-1)), value);
}
