/** One escape of a JSON string; the first group holds a pair of surrogates, the second one that stands alone. */
const escape = /\\(?:(ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|(ud[89a-f][0-9a-f]{2})|.)/g;

/**
 * Replaces the escapes of lone surrogates in JSON text by that of U+FFFD. Half a character, as a text cut at a number of
 * UTF-16 units leaves it, is no Unicode text: strict parsers refuse the whole message that holds one. Escapes are
 * expected in lower case, as `JSON.stringify` writes them.
 */
export function toWellFormedJson(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(escape, (whole: string, _pair: unknown, lone: unknown) =>
    lone === undefined ? whole : "\\ufffd",
  );
}

/** Writes a value that has a JSON form as text that every parser of JSON accepts. */
export function writeJson(value: NonNullable<unknown>): string {
  return toWellFormedJson(JSON.stringify(value));
}
