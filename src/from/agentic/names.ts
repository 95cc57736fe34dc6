import { SurfaceError } from "../../errors.ts";

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
