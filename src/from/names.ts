import { SurfaceError } from "../errors.ts";

const plain = /^[A-Za-z0-9_-]+$/;
// The start of an escaped character. If a key has it, its `_` is escaped.
const escapeStart = /_(?=x[0-9a-f])/g;
// No escaped character has a leading zero.
const empty = "_x00_";

function escapeOne(char: string): string {
  return plain.test(char) ? char : `_x${(char.codePointAt(0) ?? 0).toString(16)}_`;
}

/**
 * Returns the segment of an id for a key: letters, digits, `_` and `-`. Any other character becomes `_x<its code>_`, so that
 * different keys have different segments, and plain keys stay as they are.
 */
export function toIdSegment(key: string): string {
  if (key === "") return empty;
  const unlike = key.replaceAll(escapeStart, "_x5f_");
  return plain.test(unlike) ? unlike : Array.from(unlike, escapeOne).join("");
}

/** Returns the id of a path of keys. */
export function toId(keys: readonly string[]): string {
  return keys.map(toIdSegment).join(".");
}

/** Returns a name for a path of keys, in which only `%` and dots are escaped. */
export function toDotted(keys: readonly string[]): string {
  return keys.map((key) => key.replaceAll("%", "%25").replaceAll(".", "%2E")).join(".");
}

/** Encodes a text for a segment of a URI: only letters, digits, `-`, `_`, `.` and `~` stay. Half of a surrogate pair gives `undefined`. */
export function encodeSegment(text: string): string | undefined {
  try {
    return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    return undefined;
  }
}

function encode(key: string): string {
  // URI parsers drop these segments, encoded or not.
  if (key === "" || key === "." || key === "..") {
    throw new SurfaceError("INVALID_NAME", `Cannot name a state: "${key}" cannot be a segment of a URI`);
  }
  const encoded = encodeSegment(key);
  if (encoded !== undefined) return encoded;
  const problem = "its key has half of a surrogate pair, which no URI can hold";
  throw new SurfaceError("INVALID_NAME", `Cannot name a state: ${problem}`);
}

/**
 * Returns the path of a state in a URI.
 *
 * @throws SurfaceError `INVALID_NAME` for a key that a URI cannot hold.
 */
export function toStatePath(links: readonly string[], key: string): string {
  return [...links, "state", key].map(encode).join("/");
}
