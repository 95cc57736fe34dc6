// Characters that a reader does not see, or that reverse the text beside them, and halves of characters.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;

// Emoji and several scripts need joiners and variation selectors. Halves of characters become U+FFFD in JSON.
const misleading = /(?!\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cf}\p{DI}]/gu;

const encoder = new TextEncoder();
// C0, DEL, C1 and the two Unicode line breaks: characters that could move a cursor or fake a second line.
// oxlint-disable-next-line no-control-regex -- it matches control characters
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** Escapes control, invisible and bidirectional characters as `\u{202e}`. The result is one line. */
export function escapeInvisible(text: string): string {
  return text.replace(unseen, toEscape);
}

/** Writes JSON whose control, invisible and bidirectional characters are escapes: a terminal does not act on it, and a reader sees all. */
export function toVisibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(unseen, (character) => {
    // Line breaks within texts are escapes already.
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/**
 * Makes a text safe for a log: escapes each line as {@link escapeInvisible} does, and indents lines after the first, so that none of
 * them looks like an entry of the log.
 */
export function escapeLogLines(text: string): string {
  const [first = "", ...more] = text.split(/\r?\n/);
  return [
    escapeInvisible(first),
    ...more.map((line) => (line.startsWith("    ") ? "" : "    ") + escapeInvisible(line)),
  ].join("\n");
}

function visibleWithin(characters: readonly string[], maxLength: number): readonly string[] {
  const kept: string[] = [];
  let length = 0;
  for (const character of characters) {
    const visible = escapeInvisible(character);
    length += visible.length;
    if (length > maxLength) break;
    kept.push(visible);
  }
  return kept;
}

/** Escapes a text as {@link escapeInvisible} does. Replaces the middle of a result longer than `maxLength` by the length of the text. */
export function truncateMiddle(text: string, maxLength: number): string {
  const whole = text.length <= maxLength ? escapeInvisible(text) : undefined;
  if (whole !== undefined && whole.length <= maxLength) return whole;
  const half = Math.floor(maxLength / 2);
  const start = visibleWithin(Array.from(text.slice(0, half)), half);
  const end = visibleWithin(Array.from(text.slice(-half)).toReversed(), half).toReversed();
  return `${start.join("")} … (${text.length} characters) … ${end.join("")}`;
}

/**
 * Makes a text safe to show on one line and bounds it: runs of control characters become one space, invisible and bidirectional
 * characters become escapes. A text of more than `maxBytes` of UTF-8 is cut at a character and ends in `…`.
 */
export function clipText(text: string, maxBytes: number): string {
  // A character is at least one byte, so no character beyond maxBytes remains: cut before the regex runs.
  const clean = text
    .slice(0, maxBytes + 1)
    .replace(control, " ")
    .replace(misleading, toEscape);
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
