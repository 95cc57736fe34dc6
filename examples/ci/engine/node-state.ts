/**
 * Where a node stands. `idle`: no run has begun. `waiting`: its needs or a free slot. `skipped`: a need did not pass,
 * or a strict run stopped before it. `cancelled`: somebody ended the run. `interrupted`: it was running when its engine
 * came to a sudden end, and is started again as soon as another one takes up the run.
 */
export type NodeStatus = "idle" | "waiting" | "running" | "passed" | "failed" | "skipped" | "cancelled" | "interrupted";

/** What is known of one node. Plain JSON and deeply frozen. */
export interface NodeState {
  readonly id: string;
  readonly status: NodeStatus;
  readonly needs: readonly string[];
  /** When the command of this attempt started, as an ISO 8601 instant; absent until then. */
  readonly startedAt?: string | undefined;
  /** Milliseconds the command of this attempt took; absent until it ended. */
  readonly durationMs?: number | undefined;
  /** Exit code of this attempt; absent when it has none (not started, ended by a signal or a timeout). */
  readonly exitCode?: number | undefined;
  /** How often the current run has queued this node: 1 from the start, one more with each rerun; 0 before any run. */
  readonly attempt: number;
  /** How often the current run has started its command: more often than queued where it was interrupted. */
  readonly starts: number;
}
