/** Most levels of a message: more than values have, and few enough for whatever walks them by calling itself. */
export const maxDepth = 256;

const quote = 0x22;
const backslash = 0x5c;

/** Where the string of a JSON text ends whose opening quote stands at `start`. */
export function skipString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    const isEscaped = (end - before) % 2 === 0;
    if (!isEscaped) return end;
  }
  return text.length;
}

function levelsOf(code: number): number {
  // Both kinds of opening bracket, and both of closing bracket, differ in this bit alone.
  const folded = code & ~0x20;
  if (folded === 0x5b) return 1;
  return folded === 0x5d ? -1 : 0;
}

/** A level takes one opening bracket, so a text with few of them, inside strings or not, cannot be deep. */
function isShallow(text: string): boolean {
  let left = maxDepth;
  for (let at = text.indexOf("{"); at !== -1 && left >= 0; at = text.indexOf("{", at + 1)) left -= 1;
  for (let at = text.indexOf("["); at !== -1 && left >= 0; at = text.indexOf("[", at + 1)) left -= 1;
  return left >= 0;
}

/**
 * Whether a JSON text has at most {@link maxDepth} levels, without parsing it: millions of nested brackets are small as
 * text and gigabytes as objects. For text that is not JSON the answer is arbitrary.
 */
export function fitsDepth(text: string): boolean {
  if (isShallow(text)) return true;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = skipString(text, at);
    depth += levelsOf(code);
    if (depth > maxDepth) return false;
  }
  return true;
}
