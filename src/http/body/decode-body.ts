const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text of a body, without its byte order mark; `undefined` where it is not UTF-8 through and through. */
export function decodeBody(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
