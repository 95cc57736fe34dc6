import type { AskKind, AskTimeouts } from "./asking.ts";

/** The longest time that a client may have to answer a question, in milliseconds. */
export const maxAskTimeoutMs = 3_600_000;

const defaults: Readonly<Record<AskKind, number>> = { elicit: 300_000, sample: 60_000, roots: 10_000 };

/** The kinds of questions whose time an app may set. */
export const askKinds: readonly AskKind[] = Object.freeze(Object.keys(defaults) as AskKind[]);

/** Returns what is wrong with the time for an answer, as the rest of a sentence; `undefined` if nothing is. */
export function askTimeoutProblem(timeoutMs: unknown): string | undefined {
  if (typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= maxAskTimeoutMs) return undefined;
  return `must be a number of milliseconds above 0 and at most ${maxAskTimeoutMs}`;
}

/** Returns the times that hold in an app: its own, and the defaults for the others. */
export function toAskTimeouts({ elicit, sample, roots }: AskTimeouts = {}): Readonly<Record<AskKind, number>> {
  return Object.freeze({
    elicit: elicit ?? defaults.elicit,
    sample: sample ?? defaults.sample,
    roots: roots ?? defaults.roots,
  });
}
