/** Values by their names, as a file of configuration holds them. */
export type Table = Readonly<Record<string, unknown>>;

/** Tells whether a value is such values, and no list and no date. */
export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The values that something holds; none where it holds something else. */
export function toTable(value: unknown): Table {
  return isTable(value) ? value : {};
}
