import { assertKnownOptions } from "./assert-known-options.ts";
import { SurfaceError } from "../errors.ts";
import { assertConfirm } from "./confirm.ts";
import { assertIcons, assertMeta } from "./looks.ts";
import { assertAccess, assertAccessWithoutArgument } from "./scopes.ts";
import { kEffect, type Taggable } from "./symbols.ts";
import {
  maxTimeoutMs,
  maxWindowMs,
  resourceOptionNames,
  toolOptionNames,
  type ResourceOptions,
  type ToolOptions,
} from "./tool-options.ts";

const flags = ["mutates", "destructive", "idempotent", "openWorld"] as const;
const fates: ReadonlySet<unknown> = new Set([undefined, "abort", "finish"]);

function checkTimeout(options: ToolOptions, attempt: string): void {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return;
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > maxTimeoutMs) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `${attempt}: "timeoutMs" is ${timeoutMs} and must be above 0 and at most ${maxTimeoutMs} milliseconds`,
    );
  }
}

/**
 * Refuses options that the compiler would have refused, for callers who cast.
 *
 * @param attempt - what the author was doing, as messages begin: `Exposing "log"`.
 * @throws SurfaceError `INVALID_OPTION` for an unknown key or a bad value, `CONTRADICTION` for a tool that is said to be
 * destructive and not to mutate.
 */
export function assertToolOptions(options: ToolOptions, attempt: string): void {
  assertKnownOptions(options, toolOptionNames, attempt);
  for (const flag of flags) {
    const value: unknown = options[flag];
    if (value !== undefined && typeof value !== "boolean") {
      throw new SurfaceError("INVALID_OPTION", `${attempt}: "${flag}" must be true or false`);
    }
  }
  if (options.destructive === true && options.mutates === false) {
    throw new SurfaceError("CONTRADICTION", `${attempt}: a tool that does not mutate cannot be destructive`);
  }
  checkTimeout(options, attempt);
  if (!fates.has(options.onDisconnect)) {
    throw new SurfaceError("INVALID_OPTION", `${attempt}: "onDisconnect" must be "abort" or "finish"`);
  }
  assertConfirm(options.confirm, attempt);
  assertIcons(options.icons, attempt);
  assertMeta(options.meta, attempt);
  assertAccess(options, attempt);
}

/** The options of a resource of any kind, not yet checked. */
type AnyResourceOptions = ResourceOptions & {
  readonly list?: unknown;
  readonly listDescription?: unknown;
  readonly listItems?: unknown;
};

/** The options of collections, and the form that each must have. */
const collectionOptions = {
  list: [
    '"keys", "items" or a function',
    (list: unknown) => list === "keys" || list === "items" || typeof list === "function",
  ],
  listDescription: ["a text", (text: unknown) => typeof text === "string"],
  listItems: ["true or false", (listItems: unknown) => typeof listItems === "boolean"],
} as const;

function checkCollectionOptions(kind: string, options: AnyResourceOptions, attempt: string): void {
  for (const name of ["list", "listDescription", "listItems"] as const) {
    if (options[name] === undefined) continue;
    if (kind !== "collection") {
      throw new SurfaceError("WRONG_KIND", `${attempt}: only a collection has items that "${name}" could list`);
    }
    const [form, fits] = collectionOptions[name];
    if (!fits(options[name])) throw new SurfaceError("INVALID_OPTION", `${attempt}: "${name}" must be ${form}`);
  }
}

/**
 * Refuses options of a resource that the compiler would have refused, for callers who cast, and values that it cannot see.
 *
 * @throws SurfaceError `INVALID_OPTION`, `WRONG_KIND` for an option of another kind of member.
 */
export function assertResourceOptions(kind: string, options: AnyResourceOptions, attempt: string): void {
  assertKnownOptions(options, resourceOptionNames, attempt);
  const { windowMs, icons, meta } = options;
  checkCollectionOptions(kind, options, attempt);
  assertIcons(icons, attempt);
  assertMeta(meta, attempt);
  assertAccessWithoutArgument(options, attempt);
  if (windowMs !== undefined && !isWindow(windowMs)) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `${attempt}: "windowMs" is ${windowMs} and must be from 0 to ${maxWindowMs} milliseconds`,
    );
  }
}

/** Whether notices may be this far apart. */
export function isWindow(windowMs: unknown): boolean {
  return typeof windowMs === "number" && windowMs >= 0 && windowMs <= maxWindowMs;
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
