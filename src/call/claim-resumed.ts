import { Refusal } from "../errors.ts";
import type { CallContext } from "./call-context.ts";

function assertClaimed(claimed: unknown): void {
  // An author's function may return anything.
  if (claimed === true) return;
  throw new Refusal("ASK_STATE_USED", "the state of this call was used before, or cannot be used now");
}

/**
 * Marks the state of a retry as used, after everything that may refuse the call and before anything runs. Returns `undefined` for a
 * call without a state, or if it was marked at once. Throws, or rejects, with a `Refusal` `ASK_STATE_USED`.
 */
export function claimResumed({ asking }: CallContext): Promise<void> | undefined {
  const claimed = asking?.resumed?.claim?.();
  if (claimed instanceof Promise) return claimed.then(assertClaimed);
  if (claimed !== undefined) assertClaimed(claimed);
  return undefined;
}
