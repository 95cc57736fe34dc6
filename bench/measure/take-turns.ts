import type { Side } from "../driver/open-session.ts";

/**
 * Runs a step for both sides, one right after the other, so that both meet the same weather. Who goes first alternates
 * by the round.
 */
export async function takeTurns<TResult>(
  round: number,
  step: (side: Side) => Promise<TResult>,
): Promise<Record<Side, TResult>> {
  if (round % 2 === 0) {
    const ours = await step("ours");
    return { ours, written: await step("written") };
  }
  const written = await step("written");
  return { ours: await step("ours"), written };
}
