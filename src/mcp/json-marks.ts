/** What a character of a JSON text does outside of strings. Plain constants: the scanners compare them a million times. */
export const OTHER = 0;
/** JSON whitespace. */
export const SPACE = 1;
/** Opens a string. */
export const QUOTE = 2;
/** Opens an object or an array. */
export const OPEN = 3;
/** Closes an object or an array. */
export const CLOSE = 4;
/** Separates elements. */
export const COMMA = 5;

const kinds: Uint8Array = new Uint8Array(128);
for (const [kind, characters] of [
  [SPACE, " \t\r\n"],
  [QUOTE, '"'],
  [OPEN, "{["],
  [CLOSE, "}]"],
  [COMMA, ","],
] as const) {
  for (const character of characters) kinds[character.charCodeAt(0)] = kind;
}

/** Classifies the character at an index; outside the text, {@link OTHER}. */
export function markAt(text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? OTHER;
}

/** How a mark changes the depth: one down, one up, or none. */
export function levelsOf(mark: number): number {
  if (mark === OPEN) return 1;
  return mark === CLOSE ? -1 : 0;
}
