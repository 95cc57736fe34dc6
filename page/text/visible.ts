// Controls, formats (direction, zero width, tags), lone surrogates, separators, letters that look like nothing, and marks over more than
// three marks, which would cover the lines around.
const invisible =
  /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?<=[\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}])/u;

/** Writes a character as JSON does: `\\n`, `\\u202e`. */
function toEscape(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  if (escaped !== character) return escaped;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * Splits a text at its invisible characters. The parts at odd places are their escapes.
 * Line ends and tabs are such characters, but for those of a text of many `lines`.
 */
export function toPieces(text: string, lines = false): string[] {
  const pieces = text.split(invisible);
  return pieces.map((piece, place) => (place % 2 === 0 || (lines && /[\n\t]/.test(piece)) ? piece : toEscape(piece)));
}

/** Cuts a text for a table cell. The details show all of it. */
export function clip(text: string, length = 300): string {
  // Half of a surrogate pair would show as an escape.
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Writes the start of a text with escapes for its invisible characters, for attributes and options. */
export function toLabel(text: string): string {
  return toPieces(clip(text)).join("");
}
