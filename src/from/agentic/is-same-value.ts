/** Whether a value is surely the same as before to whoever reads it: what is in an object may have been changed in its place. */
export function isSameValue(before: unknown, now: unknown): boolean {
  return Object.is(before, now) && (typeof now !== "object" || now === null);
}
