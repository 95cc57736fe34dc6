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

async function end(generator: ProgressGenerator): Promise<void> {
  await generator.return?.(undefined);
}

/**
 * Runs a generator: what it yields is progress, what it returns is the output. When the use is aborted it is returned,
 * so that it goes no further than its next `yield`; its `finally` is awaited in every case.
 *
 * @throws what the generator throws; `ABORTED` when it was ended by an abort.
 */
export async function drainGenerator(generator: ProgressGenerator, owned: OwnedUse): Promise<unknown> {
  const { signal } = owned;
  // Its finally may fail with nobody left to be told but the log.
  const stop = (): void => void end(generator).catch((cause: unknown) => owned.mask(cause));
  signal.addEventListener("abort", stop, { once: true });
  try {
    while (!signal.aborted) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      owned.progress(step.value);
      if (owned.told !== undefined) await owned.told;
    }
    throw owned.cancelled();
  } finally {
    signal.removeEventListener("abort", stop);
    await end(generator);
  }
}
