import { Newest } from "../../spine/pushing.ts";
import { followSignal, LinkedAbort } from "../../spine/signals.ts";

/** One of the iterations that {@link combineLatest} follows. */
export type Combined<TValue> = (signal: AbortSignal) => AsyncIterable<TValue>;

/**
 * Follows several iterations at once, and yields the newest value of each whenever one has changed, once all have one. Skips the states
 * that the consumer was too slow for. Fails with the first that fails; lasts, after all have ended, until the signal fires. Its end
 * aborts all of them and waits for their `finally`.
 */
export async function* combineLatest<const $Values extends readonly unknown[]>(
  sources: { readonly [Index in keyof $Values]: Combined<$Values[Index]> },
  signal: AbortSignal,
): AsyncGenerator<$Values> {
  const linked = new LinkedAbort(signal);
  const newest = new Map<number, unknown>();
  const states = new Newest<$Values>(() => {});
  const follow = async (open: Combined<unknown>, index: number): Promise<void> => {
    try {
      for await (const value of open(linked.signal)) {
        if (linked.signal.aborted) return;
        newest.set(index, value);
        // Each index has a value of its source.
        if (newest.size === sources.length) states.tell(sources.map((_, each) => newest.get(each)) as never);
      }
    } catch (cause) {
      states.finish({ cause });
    }
  };
  const running = sources.map(follow);
  const leave = followSignal(signal, () => states.finish());
  try {
    yield* states;
  } finally {
    leave();
    linked.abort();
    linked.dispose();
    await Promise.all(running);
  }
}
