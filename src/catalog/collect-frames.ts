/** How much of a stream to pull. */
export interface PullLimits {
  readonly maxItems: number;
  readonly waitMs: number;
}

/** What was pulled. */
export interface Pulled {
  readonly items: readonly unknown[];
  /** Whether the stream ended, so that nothing follows. */
  readonly ended: boolean;
}

const late = Symbol("late");

/** Takes frames until there are enough, time is up or the stream ends; then stops the stream and waits for its end. */
export async function collectFrames(frames: AsyncIterable<unknown>, limits: PullLimits): Promise<Pulled> {
  const iterator = frames[Symbol.asyncIterator]();
  const items: unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), limits.waitMs);
  });
  try {
    while (items.length < limits.maxItems) {
      const next = iterator.next();
      const step = await Promise.race([next, deadline]);
      if (step === late) {
        // The frame that came too late belongs to nobody.
        next.catch(() => {});
        return { items, ended: false };
      }
      if (step.done === true) return { items, ended: true };
      items.push(step.value);
    }
    return { items, ended: false };
  } finally {
    clearTimeout(timer);
    await iterator.return?.();
  }
}
