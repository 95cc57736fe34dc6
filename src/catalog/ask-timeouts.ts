import { duration, withDefault, type OptionFields, type WithDefaults } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { AskKind, AskTimeouts } from "./asking.ts";

/** The longest time that a client may have to answer a question, in milliseconds. */
export const maxAskTimeoutMs = 3_600_000;

const askTimeout = duration(maxAskTimeoutMs);

/** The time for an answer to each kind of question that an app may set. */
export const askTimeoutFields: OptionFields<AskTimeouts> & WithDefaults<AskKind> = {
  elicit: withDefault(askTimeout, 300_000),
  sample: withDefault(askTimeout, 60_000),
  roots: withDefault(askTimeout, 10_000),
};

/** Returns the problem with the time for an answer; `undefined`: there is none. */
export function askTimeoutProblem(timeoutMs: unknown): string | undefined {
  return askTimeout.problem(timeoutMs, "timeoutMs");
}

/** Returns the times that hold in an app: its own, and the defaults for the others. */
export function toAskTimeouts(timeouts: AskTimeouts = {}): Readonly<Record<AskKind, number>> {
  return Object.freeze(readOptions(timeouts, askTimeoutFields, "Asking"));
}
