import { burst, nextTurn } from "./next-turn.ts";
import type { OwnedUse } from "./owned-use.ts";

/** A generator of progress, as far as it is needed; authors may write one by hand. */
export interface ProgressGenerator {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return?(value: undefined): Promise<unknown>;
}

/** Tells a handler's generator from its answer. */
export function isGenerator(value: unknown): value is ProgressGenerator {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/**
 * Runs a generator: what it yields is progress, what it returns is the output. When the use is aborted it is returned at
 * its next `yield`, and goes no further; its `finally` is awaited in every case. One that never waits does not keep the
 * process from anything else, its own deadline included.
 *
 * @throws what the generator throws; `ABORTED` when it was ended by an abort.
 */
export async function drainGenerator(generator: ProgressGenerator, owned: OwnedUse): Promise<unknown> {
  const { signal } = owned;
  let count = 0;
  try {
    while (!signal.aborted) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      owned.progress(step.value);
      if (owned.told !== undefined) await owned.told;
      count += 1;
      if (count % burst === 0) await nextTurn();
    }
    throw owned.cancelled();
  } finally {
    await generator.return?.(undefined);
  }
}
