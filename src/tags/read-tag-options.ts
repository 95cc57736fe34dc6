import { SurfaceError } from "../errors.ts";
import { duration, flag, numberFrom, oneOf, option, text, type Option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { confirmOption, freezeConfirm } from "./confirm.ts";
import { freezeDisplayMetadata, displayFields } from "./display-metadata.ts";
import { scopeFields, scopeFieldsWithoutArgument, freezeScopes } from "./scopes.ts";
import { kEffect, type Taggable } from "./tag-of.ts";
import type { CollectionResourceOptions, ToolOptions } from "./tool-options.ts";
import { freezeUi, uiOption } from "./tool-ui.ts";

/** Schemas of the options of every tool. */
export const toolFields: OptionFields<ToolOptions> = {
  title: text,
  description: text,
  mutates: flag,
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
  timeoutMs: duration(600_000),
  onDisconnect: oneOf("abort", "finish"),
  confirm: confirmOption,
  ui: uiOption,
  ...displayFields,
  ...scopeFields,
};

/**
 * Reads the options of a tool. Returns a copy that the author cannot change.
 *
 * @param attempt - the start of messages: `Cannot tag a procedure as a tool`.
 * @throws SurfaceError `INVALID_OPTION`; `CONTRADICTION` for a destructive tool that does not mutate.
 */
export function readToolOptions(options: ToolOptions, attempt: string): ToolOptions {
  const read = assertNoContradiction(readOptions(options, toolFields, attempt), attempt);
  return { ...read, ...freezeDisplayMetadata(read), ...freezeScopes(read), ...freezeConfirm(read), ...freezeUi(read) };
}

/** Refuses options of a destructive tool that does not mutate. Returns the options. @throws SurfaceError `CONTRADICTION`. */
export function assertNoContradiction<TOptions extends ToolOptions>(options: TOptions, attempt: string): TOptions {
  if (options.destructive !== true || options.mutates !== false) return options;
  throw new SurfaceError("CONTRADICTION", `${attempt}: a tool that does not mutate cannot be destructive`);
}

/** The schema of a time between two notifications. */
export const notificationWindow: Option = numberFrom(0, 60_000, " of milliseconds");

const onlyCollections: Option = {
  problem: (_value, path) => `only a collection has items that "${path}" could list`,
  code: "WRONG_KIND",
};

/** Schemas of the options of a resource. It refuses the options of collections. */
export const resourceFields: OptionFields<CollectionResourceOptions> = {
  title: text,
  description: text,
  windowMs: notificationWindow,
  list: onlyCollections,
  listDescription: onlyCollections,
  listItems: onlyCollections,
  ...displayFields,
  ...scopeFieldsWithoutArgument,
};

const collectionFields: OptionFields<CollectionResourceOptions> = {
  ...resourceFields,
  list: option(
    '"keys", "items" or a function',
    (list) => list === "keys" || list === "items" || typeof list === "function",
  ),
  listDescription: text,
  listItems: flag,
};

/**
 * Reads the options of a resource. Returns a copy that the author cannot change.
 *
 * @throws SurfaceError `INVALID_OPTION`, `WRONG_KIND` for an option of another kind of member.
 */
export function readResourceOptions(
  kind: string,
  options: CollectionResourceOptions,
  attempt: string,
): CollectionResourceOptions {
  const read = readOptions(options, kind === "collection" ? collectionFields : resourceFields, attempt);
  return { ...read, ...freezeDisplayMetadata(read), ...freezeScopes(read) };
}

/**
 * Refuses options of a tool that changes something for a member that only reads.
 *
 * @param attempt - the start of messages.
 * @throws SurfaceError `CONTRADICTION`.
 */
export function assertEffect(member: Taggable, options: ToolOptions, attempt: string): void {
  if (options.mutates !== true && options.destructive !== true) return;
  if (member.kind === "event" || member.kind === "stream") {
    throw new SurfaceError("CONTRADICTION", `${attempt}: ${member.kind}s only read, by their kind`);
  }
  if (member[kEffect] === "read") {
    const problem = "readOnly() says that it does not mutate, its options say it does";
    throw new SurfaceError("CONTRADICTION", `${attempt}: ${problem}`);
  }
}
