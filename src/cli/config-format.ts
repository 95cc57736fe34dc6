import type { JsonObject } from "../schema/json.ts";

/** A server as a client wrote it down, with its name. */
export interface ListedServer {
  readonly alias: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/**
 * How files of one kind are changed: in their text, so that comments, order, indentation and line ends stay as they are.
 * Everything throws a `Refusal` `REFUSED`, in words that go behind the name of the file, where the text cannot be read, or
 * could only be changed by losing something.
 */
export interface ConfigFormat {
  /** The servers that a text holds. */
  list(text: string, container: string): readonly ListedServer[];
  /** The text with one more server, which it must not have yet. */
  add(text: string, container: string, server: { readonly alias: string; readonly entry: JsonObject }): string;
  /** The text without a server that it has. */
  remove(text: string, container: string, alias: string): string;
}
