import { numberFrom, withDefault, type Option, type OptionFields } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { Later, SourceUse } from "./source.ts";

/** Milliseconds between two reads of a source whose author says nothing. */
export const defaultPollMs = 2000;

/** Options of {@link polled}. */
export interface PolledOptions {
  /** Milliseconds from the end of a read to the next, while the source is watched; from 10 to 3,600,000. @default 2_000 */
  readonly everyMs?: number;
}

/** A source that is read again and again while it is watched, and what {@link polled} returns. */
export interface PolledSource<TValue> {
  /** The value now. */
  get(use?: SourceUse): Later<TValue>;
  readonly pollMs: number;
}

/** Times between two reads. */
export const pollTime: Option = numberFrom(10, 3_600_000, " of milliseconds");

const fields = { everyMs: withDefault(pollTime, defaultPollMs) } satisfies OptionFields<PolledOptions>;

const neverAborted: SourceUse = Object.freeze({ signal: new AbortController().signal });

/**
 * Makes a source of a function that reads a value, such as a query. Every read calls it; while the source is watched, it is
 * also called every `everyMs`, one call at a time.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * const load = polled(async ({ signal }) => (await fetch("http://localhost/load", { signal })).text(), { everyMs: 5000 });
 * ```
 */
export function polled<TValue>(
  read: (use: SourceUse) => Later<TValue>,
  options: PolledOptions = {},
): PolledSource<TValue> {
  const { everyMs } = readOptions(options, fields, "Making a polled source");
  if (typeof read !== "function")
    throw invalidOption("Making a polled source", "its first argument must be a function that reads");
  return Object.freeze({ get: (use = neverAborted) => read(use), pollMs: everyMs });
}
