const plain = /^[A-Za-z0-9_-]+$/;
// What an escaped character looks like: where a key has it, its own `_` is escaped.
const escapeStart = /_(?=x[0-9a-f])/g;
// As no character is written: none has a zero before its code.
const empty = "_x00_";

function escapeOne(char: string): string {
  return plain.test(char) ? char : `_x${(char.codePointAt(0) ?? 0).toString(16)}_`;
}

/**
 * A key -> a segment of an id: letters, digits, `_` and `-`. Any other character is written `_x<its code>_`, so that no two keys have
 * one segment, and keys that are plain are themselves.
 */
export function toSegment(key: string): string {
  if (key === "") return empty;
  const unlike = key.replaceAll(escapeStart, "_x5f_");
  return plain.test(unlike) ? unlike : Array.from(unlike, escapeOne).join("");
}

/** Keys from link to link -> an id. */
export function toId(keys: readonly string[]): string {
  return keys.map(toSegment).join(".");
}
