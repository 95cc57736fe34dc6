/**
 * Runs a step for all sides, one right after the other, so that all meet the same weather. Who goes first alternates by
 * the round.
 */
export async function takeTurns<TSide extends string, TResult>(
  round: number,
  sides: readonly TSide[],
  step: (side: TSide) => Promise<TResult>,
): Promise<Record<TSide, TResult>> {
  const found: [TSide, TResult][] = [];
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) found.push([side, await step(side)]);
  // Each side is there: it had its turn.
  return Object.fromEntries(found) as Record<TSide, TResult>;
}
