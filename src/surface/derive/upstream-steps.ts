/** A value of upstream, or what it failed with: the last step then. */
export type UpstreamStep<TValue> = { readonly value: TValue } | { readonly failure: unknown };

/**
 * Iterates over what upstream gives, with its failure as a step like any other: so that it is not mistaken for one of
 * those who look at the values. Leaving it leaves upstream, whose `finally` is waited for.
 */
export async function* upstreamSteps<TValue>(open: () => AsyncIterable<TValue>): AsyncGenerator<UpstreamStep<TValue>> {
  try {
    for await (const value of open()) yield { value };
  } catch (failure) {
    yield { failure };
  }
}
