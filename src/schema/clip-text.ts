import { visibleProse } from "./visible-text.ts";

const encoder = new TextEncoder();
// C0, DEL, C1 and the two Unicode line breaks: anything that could move a cursor or fake a second line.
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/**
 * Makes a text safe to show on one line and bounds it: runs of control characters become one space, invisible and bidirectional
 * characters become escapes, and what exceeds `maxBytes` of UTF-8 is cut at a character and ends in `…`.
 */
export function clipText(text: string, maxBytes: number): string {
  // A character is at least one byte, so nothing beyond maxBytes characters can survive: cut before the regex runs.
  const clean = visibleProse(text.slice(0, maxBytes + 1).replace(control, " "));
  // A UTF-16 unit is at most 3 bytes.
  if (clean.length * 3 <= maxBytes) return clean;
  if (encoder.encode(clean).length <= maxBytes && text.length <= maxBytes) return clean;
  return clipBytes(clean, maxBytes - 3) + "…";
}

function clipBytes(text: string, maxBytes: number): string {
  let kept = "";
  let bytes = 0;
  for (const character of text) {
    bytes += encoder.encode(character).length;
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}
