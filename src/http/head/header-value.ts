const sentinelStart = "=?base64?";
const sentinelEnd = "?=";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** What may stand in a header: visible ASCII, and spaces. */
const plain = /^[\t\x20-\x7e]*$/;

function decodeBase64(text: string): string | undefined {
  if (!base64.test(text)) return undefined;
  try {
    // Every character of what atob() returns stands for one byte.
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * What a header that mirrors a value of the body says: the value itself or, between `=?base64?` and `?=`, its UTF-8 bytes
 * in Base64. `undefined`: neither.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plain.test(value)) return undefined;
  const text = value.trim();
  if (!text.startsWith(sentinelStart) || !text.endsWith(sentinelEnd)) return text;
  return decodeBase64(text.slice(sentinelStart.length, -sentinelEnd.length));
}
