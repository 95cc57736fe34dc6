/** The id of a JSON-RPC request: text or a safe integer, never null. */
export type RequestId = string | number;

const MAX_BYTES = 1024;
const utf8 = new TextEncoder();

/**
 * Whether a value can be the id of a request: a safe integer (others are rounded by `JSON.parse` and could not be
 * echoed) or a string of at most 1 KiB of UTF-8. The empty string is an id.
 */
export function isRequestId(value: unknown): value is RequestId {
  if (typeof value === "number") return Number.isSafeInteger(value);
  return typeof value === "string" && value.length <= MAX_BYTES && utf8Length(value) <= MAX_BYTES;
}

/** No UTF-16 unit takes more than three bytes, so short texts need no encoding; the result is then an upper bound. */
function utf8Length(text: string): number {
  return text.length * 3 <= MAX_BYTES ? text.length * 3 : utf8.encode(text).length;
}
