import { CiError } from "./errors.ts";
import type { Plan } from "./plan.ts";
import type { StateBoard } from "./state-board.ts";

/** What a rerun is judged by. */
export interface RerunSetting {
  readonly plan: Plan;
  readonly board: StateBoard;
  /** Everything that a rerun of the node would run again, too. */
  readonly wanted: ReadonlySet<string>;
}

/**
 * Refuses to rerun a node that is under way, or that has a need which did not pass.
 *
 * @throws CiError `NODE_BUSY` or `NEEDS_NOT_PASSED`
 */
export function assertRerunnable(id: string, { plan, board, wanted }: RerunSetting): void {
  const attempt = `rerun "${id}"`;
  const { statusOf } = board;
  if (statusOf(id) === "waiting") throw new CiError("NODE_BUSY", `${attempt}: it is waiting to run already`);
  const need = plan.redNeed(id, statusOf);
  if (need !== undefined) {
    const status = statusOf(need);
    throw new CiError("NEEDS_NOT_PASSED", `${attempt}: its need "${need}" is ${status}, so rerun "${need}" instead`);
  }
  const busy = [...wanted].find((node) => statusOf(node) === "running" || statusOf(node) === "interrupted");
  if (busy !== undefined) throw new CiError("NODE_BUSY", `${attempt}: "${busy}" is running, and must end first`);
}
