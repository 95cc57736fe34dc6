import { SurfaceError } from "../../errors.ts";

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

/** Keys -> a name in an answer, where any text may stand: only what joins them is escaped. */
export function toDotted(keys: readonly string[]): string {
  return keys.map((key) => key.replaceAll("%", "%25").replaceAll(".", "%2E")).join(".");
}

function encode(key: string): string {
  // Readers of URIs take these away, whether they are encoded or not.
  if (key === "" || key === "." || key === "..") {
    throw new SurfaceError("INVALID_NAME", `Naming a state: "${key}" cannot be a segment of a URI`);
  }
  try {
    return encodeURIComponent(key).replaceAll(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch (cause) {
    throw new SurfaceError("INVALID_NAME", "Naming a state: half a character cannot be part of a URI", { cause });
  }
}

/**
 * Where a state is, from link to link.
 *
 * @throws SurfaceError `INVALID_NAME` where a URI cannot hold a key.
 */
export function toStatePath(links: readonly string[], key: string): string {
  return [...links, "state", key].map(encode).join("/");
}
