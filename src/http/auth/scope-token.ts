/** What a scope may be written with (RFC 6749, appendix A.4): no space, no quote, no backslash. */
const scopeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/;

/** Whether it is the name of a scope. */
export function isScopeToken(value: unknown): value is string {
  return typeof value === "string" && scopeForm.test(value);
}
