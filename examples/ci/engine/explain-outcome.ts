import type { NodeStatus } from "./node-state.ts";
import type { CommandOutcome } from "./run-command.ts";

/** What an outcome means for its node. */
export interface OutcomeMeaning {
  readonly status: Extract<NodeStatus, "passed" | "failed" | "cancelled">;
  readonly exitCode?: number;
  /** A line for the log, where the command itself cannot have said it. */
  readonly note?: string;
}

/** Reads the outcome of a command whose time limit was `timeoutMs`. */
export function explainOutcome(outcome: CommandOutcome, timeoutMs: number): OutcomeMeaning {
  switch (outcome.kind) {
    case "exited":
      return { status: outcome.code === 0 ? "passed" : "failed", exitCode: outcome.code };
    case "signalled":
      return { status: "failed", note: `[ci] ended by ${outcome.signal}` };
    case "timed-out":
      return { status: "failed", note: `[ci] ended: it took longer than ${timeoutMs / 1000} s` };
    case "stopped":
      return { status: "cancelled", note: "[ci] cancelled" };
    default:
      return { status: "failed", note: `[ci] ${outcome.reason}` };
  }
}
