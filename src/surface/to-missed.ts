/** More than this cannot be told to have been missed: what counts them would lose count. */
const maxMissed = 1e9;

/** How many occurrences were missed, as another process has told it; `undefined` for what cannot be a number of them. */
export function toMissed(told: unknown): number | undefined {
  return Number.isSafeInteger(told) && Number(told) >= 0 && Number(told) <= maxMissed ? Number(told) : undefined;
}
