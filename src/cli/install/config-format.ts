import type { JsonObject } from "../../schema/json.ts";

/** A server in a configuration file. */
export interface ListedServer {
  readonly alias: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/**
 * Edits the text of one kind of configuration file, so that comments, order, indentation and line ends stay. Each method throws a
 * `Refusal` `REFUSED` for a text that it cannot read or cannot change without loss. The caller adds the name of the file.
 */
export interface ConfigFormat {
  /** Returns the servers of a text. */
  list(text: string, container: string): readonly ListedServer[];
  /** Returns the text with one more server. Its name must be new. */
  add(text: string, container: string, server: { readonly alias: string; readonly entry: JsonObject }): string;
  /** Returns the text without one of its servers. */
  remove(text: string, container: string, alias: string): string;
}

/** An object of a configuration file. */
export type Table = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, and neither a list nor a date. */
export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Returns a value if it is a table, or else an empty one. */
export function toTable(value: unknown): Table {
  return isTable(value) ? value : {};
}
