import { Refusal } from "../errors.ts";
import type { CallContext } from "./call-context.ts";

function assertClaimed(claimed: unknown): void {
  // Whatever is not exactly true is no permission.
  if (claimed === true) return;
  throw new Refusal("ASK_STATE_USED", "what this goes on from was used before, or cannot be used now");
}

/**
 * Takes what a call goes on from for used, maybe later: after all that may refuse it as a call, which can be made again then, and
 * before anything runs for it. `undefined`: there is nothing to be taken. Throws, or rejects, with a `Refusal` `ASK_STATE_USED`.
 */
export function claimResumed({ asking }: CallContext): Promise<void> | undefined {
  const claimed = asking?.resumed?.claim?.();
  if (claimed instanceof Promise) return claimed.then(assertClaimed);
  if (claimed !== undefined) assertClaimed(claimed);
  return undefined;
}
