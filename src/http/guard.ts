import { toInternalAnswer } from "../mcp/methods.ts";
import type { RpcAnswer } from "../mcp/protocol.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";

/** What is done where a piece of work fails that nobody waits for. */
export interface Guarding {
  /** Named in the log. */
  readonly method: string;
  readonly report: FaultReporter;
  /** Answers the request that the work was for. */
  readonly answer: (answer: RpcAnswer) => void;
}

/** Looks after work that nobody waits for: what it rejects with is reported, and its request answered with the id of that. */
export function guard(work: Promise<unknown>, { method, report, answer }: Guarding): void {
  work.catch((cause: unknown) => {
    try {
      answer(toInternalAnswer(cause, method, report));
    } catch (again) {
      // Whoever asked cannot be told even that.
      void internalError(again, `method "${method}"`, report);
    }
  });
}
