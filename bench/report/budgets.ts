/** A bound on a figure: on the ratio to its base, or on our own value. */
export interface Budget {
  /** The start of the figure's name. The first budget that fits a figure bounds it. */
  readonly figure: string;
  /** Whether the figure has to stay at or below the bound, or at or above it. */
  readonly sense: "at most" | "at least";
  readonly bound: number;
  /** @default "ratio" */
  readonly of?: "ratio" | "value";
  /** The share of the bound by which a figure may miss it before the run fails. @default 0 */
  readonly slack?: number;
  /** Whether the worst round has to hold the bound, and not the middle one: for figures that are counted. */
  readonly everyRound?: true;
  /** Whether a figure that misses the bound is shown, but does not fail the run. */
  readonly hope?: true;
  /** The reason for the number. */
  readonly source: string;
}

const slack = 0.1;
const design = "the design";

/** Goals of the request path. A run fails when a figure misses its goal by more than {@link slack}. */
const goals: readonly Budget[] = [
  {
    figure: "calls /s, 32 in flight (legacy)",
    sense: "at least",
    bound: 5,
    slack,
    source: "a bare JSON-RPC loop reaches 6.9, a prototype 7.7",
  },
  {
    figure: "calls /s, 32 in flight (modern)",
    sense: "at least",
    bound: 7,
    slack,
    source: "a bare JSON-RPC loop reaches 9.1, a prototype 15",
  },
  {
    figure: "CPU a call",
    sense: "at most",
    bound: 0.14,
    slack,
    source: "a prototype used 4.8 and 6.6 µs where 10.8 and 13.3 were 0.21 and 0.15",
  },
  {
    figure: "reads /s (legacy)",
    sense: "at least",
    bound: 5,
    slack,
    source: "a prototype used 3.3 µs, a bare loop 1.6",
  },
  {
    figure: "reads /s (modern)",
    sense: "at least",
    bound: 6,
    slack,
    source: "a prototype used 4.8 µs, a bare loop 2.2",
  },
  { figure: "call p99", sense: "at most", bound: 1, slack, source: "a tail slower than the SDK's is a bug" },
  {
    figure: "HTTP calls /s, 32 sessions (legacy)",
    sense: "at least",
    bound: 5,
    slack,
    source: "a bare loop reaches 5.5",
  },
  {
    figure: "HTTP calls /s, 32 sessions (modern)",
    sense: "at least",
    bound: 7,
    slack,
    source: "a bare loop reaches 8.6",
  },
  { figure: "HTTP CPU a call", sense: "at most", bound: 0.2, slack, source: "a prototype used 23 µs, a bare loop 18" },
  ...["inspector", "live page open"].map((what): Budget => ({
    figure: `${what}: CPU a call`,
    sense: "at most",
    bound: 1.03,
    slack,
    source: "an owner leaves the page on in production",
  })),
  { figure: "HTTP heap a session", sense: "at most", bound: 5, of: "value", slack, source: design },
  { figure: "HTTP RSS a session", sense: "at most", bound: 15, of: "value", slack, source: design },
  // More views than a server keeps: each request has to read its view again.
  ...["1,000", "10,000"].map((count): Budget => ({
    figure: `scale: CPU a call with ${count} views in turn`,
    sense: "at most",
    bound: 1,
    hope: true,
    source: "requests by a few hundred views are served from a cache, which is bounded",
  })),
  // The slack is the 10 % that a call may cost more.
  { figure: "scale: ", sense: "at most", bound: 1, slack, source: "a call costs the same from 10 to 10,000" },
];

/** The budgets of the design; docs/performance.md says why they are what they are. */
export const budgets: readonly Budget[] = [
  ...goals,
  { figure: "call p50", sense: "at most", bound: 0.9, source: design },
  { figure: "cold start", sense: "at most", bound: 1.1, source: design },
  { figure: "bridged change to notice p50", sense: "at most", bound: 3, source: design },
  { figure: "HTTP RSS a stream", sense: "at most", bound: 1, source: design },
  { figure: "gateway: search p99", sense: "at most", bound: 1, source: design },
  { figure: "view: call p99, and 0.2 ms", sense: "at most", bound: 1, source: design },
  { figure: "allowed: ", sense: "at most", bound: 1, everyRound: true, source: design },
  { figure: "change to notice p50", sense: "at most", bound: 0.8, hope: true, source: "a prototype reached 0.79" },
  { figure: "gateway: call p50", sense: "at most", bound: 3, hope: true, source: design },
  { figure: "bridge: call p50", sense: "at most", bound: 3, hope: true, source: design },
  { figure: "bridge: calls /s", sense: "at least", bound: 0.2, hope: true, source: design },
  { figure: "warm: read p50", sense: "at most", bound: 0.5, hope: true, source: design },
  { figure: "warm: reads /s", sense: "at least", bound: 2, hope: true, source: design },
  { figure: "10 kB results", sense: "at least", bound: 1.5, hope: true, source: "a bare loop reaches 1.23" },
  { figure: "tools/list of 1000", sense: "at most", bound: 0.9, hope: true, source: "a bare loop reaches 0.8" },
];
