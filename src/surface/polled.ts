import { SurfaceError } from "../errors.ts";
import { assertKnownOptions } from "../tags/assert-known-options.ts";
import type { Later, SourceUse } from "./source.ts";

/** Milliseconds between two reads of a source whose author says nothing. */
export const defaultPollMs = 2000;

const minPollMs = 10;
const maxPollMs = 3_600_000;

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

/** Refuses a time between two reads that is out of bounds. @throws SurfaceError `INVALID_OPTION`. */
export function assertPollMs(pollMs: unknown, what: string): void {
  if (typeof pollMs === "number" && pollMs >= minPollMs && pollMs <= maxPollMs) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `${what} is ${String(pollMs)} and must be from ${minPollMs} to ${maxPollMs} milliseconds`,
  );
}

const optionNames = Object.keys({ everyMs: true } satisfies Record<keyof PolledOptions, true>);

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
  assertKnownOptions(options, optionNames, "Making a polled source");
  if (typeof read !== "function") {
    throw new SurfaceError(
      "INVALID_OPTION",
      "Cannot make a polled source: its first argument must be a function that reads",
    );
  }
  const { everyMs = defaultPollMs } = options;
  assertPollMs(everyMs, 'Cannot make a polled source: "everyMs"');
  return Object.freeze({ get: (use = neverAborted) => read(use), pollMs: everyMs });
}
