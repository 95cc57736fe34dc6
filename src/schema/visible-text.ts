// Characters that a reader does not see, or that turn round the text beside them, and halves of characters.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;

// Emoji and several scripts are written with joiners and variation selectors. Halves of characters become U+FFFD where the text is
// written as JSON.
const misleading = /(?!\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cf}\p{DI}]/gu;

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** Escapes control, invisible and bidirectional characters as `\u{202e}`. The result is one line. */
export function visibleText(text: string): string {
  return text.replace(unseen, toEscape);
}

/** Escapes invisible and bidirectional characters, but no joiners and no control characters: for text that is prose. */
export function visibleProse(text: string): string {
  return text.replace(misleading, toEscape);
}

/**
 * Makes a text safe for a log: {@link visibleText} for each line, and lines after the first are indented, so that none of them
 * looks like an entry of the log.
 */
export function visibleLines(text: string): string {
  const [first = "", ...more] = text.split(/\r?\n/);
  return [visibleText(first), ...more.map((line) => (line.startsWith("    ") ? "" : "    ") + visibleText(line))].join(
    "\n",
  );
}

function visibleWithin(characters: readonly string[], maxLength: number): readonly string[] {
  const kept: string[] = [];
  let length = 0;
  for (const character of characters) {
    const visible = visibleText(character);
    length += visible.length;
    if (length > maxLength) break;
    kept.push(visible);
  }
  return kept;
}

/**
 * Escapes a text as {@link visibleText} does. If the result is longer than `maxLength`, it loses its middle, and the length of the
 * text stands there instead.
 *
 * @param digest - returns what stands behind the length: it tells apart texts that differ in their middle.
 */
export function shortText(text: string, maxLength: number, digest?: () => string): string {
  const whole = text.length <= maxLength ? visibleText(text) : undefined;
  if (whole !== undefined && whole.length <= maxLength) return whole;
  const half = Math.floor(maxLength / 2);
  const start = visibleWithin(Array.from(text.slice(0, half)), half);
  const end = visibleWithin(Array.from(text.slice(-half)).toReversed(), half).toReversed();
  const note = digest === undefined ? "" : `, ${digest()}`;
  return `${start.join("")} … (${text.length} characters${note}) … ${end.join("")}`;
}
