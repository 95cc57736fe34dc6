import type { SurfaceError } from "../../errors.ts";
import { callable } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { followSignal } from "../../spine/signals.ts";
import { relay, RelayedError, type RelayOptions } from "../relayed.ts";
import { systemClock } from "../system-clock.ts";

/** Input of an upstream member. */
export type UpstreamInput<TInput> = TInput extends Schema ? InferInput<TInput> : undefined;

/** Checks that options are functions with known names. @throws SurfaceError `INVALID_OPTION`. */
export function assertFunctions(options: object, names: readonly string[], doing: string): void {
  readOptions<object, object>(options, Object.fromEntries(names.map((name) => [name, callable])), doing);
}

/** Creates the error of an upstream iteration that ended, although it lasts as long as its surface. */
export function createUpstreamEnded(): SurfaceError {
  return new RelayedError("UNAVAILABLE", "what this comes from has ended");
}

/** Reads from upstream once, and relays its failure. */
export async function readUpstream<TValue>(read: () => Promise<TValue>, terms?: RelayOptions): Promise<TValue> {
  try {
    return await read();
  } catch (cause) {
    throw relay(cause, terms);
  }
}

/** A value of upstream, or its relayed failure, which is the last step. */
type UpstreamStep<TValue> = { readonly value: TValue } | { readonly failure: unknown };

/** Iterates over upstream, with its failure as the last step, to tell it from errors of the consumer. Its end awaits upstream's. */
export async function* upstreamSteps<TValue>(
  open: () => AsyncIterable<TValue>,
  terms?: RelayOptions,
): AsyncGenerator<UpstreamStep<TValue>> {
  try {
    for await (const value of open()) yield { value };
  } catch (cause) {
    yield { failure: relay(cause, terms) };
  }
}

interface FollowOptions extends RelayOptions {
  readonly signal: AbortSignal;
  /** Whether an end is no failure. @default false */
  readonly mayEnd?: boolean;
}

/** Iterates over upstream. Throws its relayed failure, or `UNAVAILABLE` if it ends before the signal fires. */
export async function* followUpstream<TValue>(
  open: () => AsyncIterable<TValue>,
  { signal, mayEnd = false, ...terms }: FollowOptions,
): AsyncGenerator<TValue> {
  for await (const step of upstreamSteps(open, terms)) {
    if ("failure" in step) throw step.failure;
    yield step.value;
  }
  if (!mayEnd && !signal.aborted) throw createUpstreamEnded();
}

/** Resolves after a delay, or at once when the signal fires. Does not keep the process alive. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = systemClock.after(delayMs, () => {
      leave();
      resolve();
    });
    const leave = followSignal(signal, () => {
      stop();
      resolve();
    });
  });
}
