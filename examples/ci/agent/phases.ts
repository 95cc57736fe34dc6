/** Where the story is, as far as the coordinator's sudden end is concerned: before it, without one, with the next one. */
export const PHASES = ["before", "during", "after"] as const;

/** One of {@link PHASES}. */
export type Phase = (typeof PHASES)[number];

/** How often something happened in each phase. */
export type Tally = Readonly<Record<Phase, number>>;

/** Counts by phase. */
export interface Counter {
  count(): void;
  tally(): Tally;
}

/** Makes a counter over whatever phase it is now. */
export function createCounter(now: () => Phase): Counter {
  const counts: Record<Phase, number> = { before: 0, during: 0, after: 0 };
  return {
    count: () => void (counts[now()] += 1),
    tally: () => ({ ...counts }),
  };
}

/** Two tallies as one. */
export function sumOf(left: Tally, right: Tally): Tally {
  return { before: left.before + right.before, during: left.during + right.during, after: left.after + right.after };
}

/** All phases together. */
export function totalOf({ before, during, after }: Tally): number {
  return before + during + after;
}
