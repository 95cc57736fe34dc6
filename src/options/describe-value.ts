const maxChars = 64;

/** Describes a value in a few words, without its content, except that of numbers and other short scalars. */
export function describeKind(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Describes a value as {@link describeKind} does, and quotes the start of a text. */
export function describeValue(value: unknown): string {
  if (typeof value !== "string") return describeKind(value);
  return JSON.stringify(value.length > maxChars ? `${value.slice(0, maxChars - 3)}…` : value);
}
