import { skipString } from "./fits-depth.ts";

/**
 * Most values of a message: a text that is full of small ones is read for seconds, during which nothing else runs. Those
 * of one that has this many take about as long as the characters of the longest.
 */
export const maxValues = 500_000;

const quote = 0x22;
const comma = 0x2c;

function beginsValue(code: number): boolean {
  // Both kinds of opening bracket differ in this bit alone.
  return code === comma || (code & ~0x20) === 0x5b;
}

/**
 * Whether a JSON text has at most {@link maxValues} commas and opening brackets outside of its strings, without parsing it.
 * For text that is not JSON the answer is arbitrary.
 */
export function fitsValues(text: string): boolean {
  if (text.length <= maxValues) return true;
  let values = 0;
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = skipString(text, at);
    else if (beginsValue(code)) values += 1;
  }
  return values <= maxValues;
}
