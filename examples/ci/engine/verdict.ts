import type { NodeState, NodeStatus } from "./node-state.ts";

/**
 * The outcome of a run, or of a rerun within it. `green` says that the run has settled and that every node of the
 * pipeline has passed in it: a run seen in part, stopped or cancelled is never green.
 */
export interface Verdict {
  /** The run it speaks of; a rerun keeps the number of its run. */
  readonly run: number;
  /** Counts the verdicts of the run, from 1: what two readers have both heard has one number. */
  readonly number: number;
  readonly verdict: "green" | "red";
  /** Ids of the failed nodes, in file order. */
  readonly red: readonly string[];
  /** `first-red`: a first node failed and others may still be running. `settled`: nothing runs any more. */
  readonly at: "settled" | "first-red";
  /** How many nodes have passed so far. */
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
  /** Milliseconds since the start, or since the rerun that this verdict ends. */
  readonly durationMs: number;
}

/** Sums up the states of a run. Frozen. */
export function toVerdict(
  states: readonly NodeState[],
  about: Pick<Verdict, "run" | "number" | "at" | "durationMs">,
): Verdict {
  const count = (status: NodeStatus): number => states.filter((state) => state.status === status).length;
  const allPassed = states.every((state) => state.status === "passed");
  const red = states.filter((state) => state.status === "failed").map((state) => state.id);
  return Object.freeze({
    run: about.run,
    number: about.number,
    verdict: allPassed ? "green" : "red",
    red: Object.freeze(red),
    at: about.at,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    cancelled: count("cancelled"),
    durationMs: about.durationMs,
  });
}
