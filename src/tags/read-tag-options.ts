import { SurfaceError } from "../errors.ts";
import { duration, flag, numberFrom, oneOf, option, text, type Option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { confirmOption } from "./confirm.ts";
import { lookFields } from "./looks.ts";
import { accessFields, accessFieldsWithoutArgument } from "./scopes.ts";
import { kEffect, type Taggable } from "./tag-of.ts";
import { maxTimeoutMs, maxWindowMs, type CollectionResourceOptions, type ToolOptions } from "./tool-options.ts";

/** Options of every tool. */
export const toolFields: OptionFields<ToolOptions> = {
  title: text,
  description: text,
  mutates: flag,
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
  timeoutMs: duration(maxTimeoutMs),
  onDisconnect: oneOf("abort", "finish"),
  confirm: confirmOption,
  ...lookFields,
  ...accessFields,
};

/**
 * Reads options of a tool.
 *
 * @param attempt - the action of the author, the start of messages: `Exposing "log"`.
 * @throws SurfaceError `INVALID_OPTION`; `CONTRADICTION` for a tool that is declared destructive and not to mutate.
 */
export function readToolOptions(options: ToolOptions, attempt: string): ToolOptions {
  return assertNoContradiction(readOptions(options, toolFields, attempt), attempt);
}

/** Returns options of a tool that do not contradict each other. @throws SurfaceError `CONTRADICTION`. */
export function assertNoContradiction<TOptions extends ToolOptions>(options: TOptions, attempt: string): TOptions {
  if (options.destructive !== true || options.mutates !== false) return options;
  throw new SurfaceError("CONTRADICTION", `${attempt}: a tool that does not mutate cannot be destructive`);
}

/** Times between two notices. */
export const noticeWindow: Option = numberFrom(0, maxWindowMs, " of milliseconds");

const onlyCollections: Option = {
  problem: (_value, path) => `only a collection has items that "${path}" could list`,
  code: "WRONG_KIND",
};

/** Options of a resource that is not a collection. Those of collections are known, and say so. */
export const resourceFields: OptionFields<CollectionResourceOptions> = {
  title: text,
  description: text,
  windowMs: noticeWindow,
  list: onlyCollections,
  listDescription: onlyCollections,
  listItems: onlyCollections,
  ...lookFields,
  ...accessFieldsWithoutArgument,
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
 * Reads options of a resource.
 *
 * @throws SurfaceError `INVALID_OPTION`, `WRONG_KIND` for an option of another kind of member.
 */
export function readResourceOptions(
  kind: string,
  options: CollectionResourceOptions,
  attempt: string,
): CollectionResourceOptions {
  return readOptions(options, kind === "collection" ? collectionFields : resourceFields, attempt);
}

/**
 * Refuses options that contradict the member whose tool they describe.
 *
 * @param attempt - what the author was doing, as messages begin.
 * @throws SurfaceError `CONTRADICTION` when a member that only reads is said to change something.
 */
export function assertEffect(member: Taggable, options: ToolOptions, attempt: string): void {
  if (options.mutates !== true && options.destructive !== true) return;
  if (member.kind === "event" || member.kind === "stream") {
    throw new SurfaceError("CONTRADICTION", `${attempt}: ${member.kind}s only read, by their kind`);
  }
  if (member[kEffect] === "read") {
    throw new SurfaceError(
      "CONTRADICTION",
      `${attempt}: readOnly() says that it does not mutate, its options say it does`,
    );
  }
}
