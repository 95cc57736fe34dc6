/** Where a wait starts, read from a cursor. */
export type Start =
  | { readonly kind: "after"; readonly number: number }
  | { readonly kind: "reset"; readonly number: number };

/** What a cursor is read against. */
export interface CursorSetting {
  readonly generation: string;
  /** The oldest number that is kept, and the newest there has been. */
  readonly first: number;
  readonly last: number;
}

const pattern = /^([0-9a-z]{1,32})\.(\d{1,15})$/;

/** Writes the cursor that stands right after a number. */
export function toCursor(generation: string, number: number): string {
  return `${generation}.${number}`;
}

/**
 * Reads a cursor. One that this life of the ring did not write is a reset to before everything that is kept, so that
 * nothing since its beginning is lost.
 */
export function fromCursor(cursor: string, setting: CursorSetting): Start {
  const [, generation, digits] = pattern.exec(cursor) ?? [];
  const number = Number(digits);
  if (generation !== setting.generation || number > setting.last) return { kind: "reset", number: setting.first - 1 };
  return { kind: "after", number };
}
