/** A bound on the ratio of ours to what it is compared with. */
export interface Budget {
  /** Part of a figure's name: the bound holds for every figure whose name starts with it. */
  readonly figure: string;
  /** Whether the ratio has to stay at or below the bound, or at or above it. */
  readonly sense: "at most" | "at least";
  readonly ratio: number;
  /** A bound on what is counted holds in every round, and not in the middle one. */
  readonly everyRound?: true;
  /** A goal is shown; missing it does not fail the run. */
  readonly goal?: true;
}

/** The budgets of the design; docs/performance.md says why they are what they are. */
export const budgets: readonly Budget[] = [
  { figure: "call p50", sense: "at most", ratio: 0.9 },
  { figure: "calls /s", sense: "at least", ratio: 3 },
  { figure: "CPU a call", sense: "at most", ratio: 0.3 },
  { figure: "cold start", sense: "at most", ratio: 1.1 },
  { figure: "bridged change to notice p50", sense: "at most", ratio: 3 },
  { figure: "HTTP calls /s", sense: "at least", ratio: 3 },
  { figure: "HTTP RSS a session", sense: "at most", ratio: 1 },
  { figure: "HTTP RSS a stream", sense: "at most", ratio: 1 },
  { figure: "gateway: search p99", sense: "at most", ratio: 1 },
  { figure: "view: call p99, and 0.2 ms", sense: "at most", ratio: 1 },
  { figure: "allowed: ", sense: "at most", ratio: 1, everyRound: true },
  { figure: "change to notice p50", sense: "at most", ratio: 0.8, goal: true },
  { figure: "gateway: call p50", sense: "at most", ratio: 3, goal: true },
  { figure: "bridge: call p50", sense: "at most", ratio: 3, goal: true },
  { figure: "bridge: calls /s", sense: "at least", ratio: 0.2, goal: true },
  { figure: "warm: read p50", sense: "at most", ratio: 0.5, goal: true },
  { figure: "warm: reads /s", sense: "at least", ratio: 2, goal: true },
  { figure: "10 kB results", sense: "at least", ratio: 1.5, goal: true },
  { figure: "reads /s", sense: "at least", ratio: 4, goal: true },
  { figure: "tools/list of 1000", sense: "at most", ratio: 0.9, goal: true },
];
