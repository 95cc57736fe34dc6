const BACKSLASH = 0x5c;

/**
 * The index of the quote that closes the JSON string whose opening quote is at `open`, or the length of the text when
 * nothing closes it. Linear in the length of the string: each run of backslashes is counted once.
 */
export function skipString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (first - 1 > open && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
