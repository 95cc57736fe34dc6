import { canonical } from "./canonical.ts";

/** Makes a function that gives the value before again for as long as the content stays the same. */
export function createSteady<TValue>(): (value: TValue) => TValue {
  let last: { readonly text: string; readonly value: TValue } | undefined;
  return (value) => {
    const text = canonical(value);
    if (last?.text !== text) last = { text, value };
    return last.value;
  };
}
