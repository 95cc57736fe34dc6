/**
 * Where a request is looked at, in order: cheapest and most global first. What is refused at one never comes to the next.
 * `caps` are the transport's: places, sessions and streams. `gate` is where what a request names is looked up, where its
 * caller is asked for scopes, and before its handler runs for what a limiter leaves of calls of this tool.
 */
export const stages = ["head", "token", "body", "envelope", "caps", "gate", "arguments", "backend"] as const;

/** One of {@link stages}. */
export type Stage = (typeof stages)[number];

/** How many requests have come to each stage. */
export type StageCounts = Readonly<Record<Stage, number>>;

/** Counts. One for each server. */
export class StageCounters {
  readonly #counts: Record<Stage, number> = {
    head: 0,
    token: 0,
    body: 0,
    envelope: 0,
    caps: 0,
    gate: 0,
    arguments: 0,
    backend: 0,
  };

  /** A request has come to a stage. */
  readonly reached = (stage: Stage): void => {
    this.#counts[stage] += 1;
  };

  /** What was counted so far. */
  read(): StageCounts {
    return { ...this.#counts };
  }
}
