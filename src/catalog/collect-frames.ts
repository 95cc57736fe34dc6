import { LinkedAbort } from "../spine/linked-abort.ts";

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

/** A stream that is not open yet; the signal ends it. */
export interface Pullable {
  /** Fires when the caller gives up. */
  readonly signal: AbortSignal;
  open(signal: AbortSignal): AsyncIterable<unknown>;
}

const late = Symbol("late");

// return() alone would not end a stream that is quiet: an async generator takes it only after the frame it is waiting
// for. And neither is waited for, since how long the far side takes to clean up is not the caller's time.
/** Tells a stream both ways that nobody listens any more. */
async function end(iterator: AsyncIterator<unknown> | undefined, stop: LinkedAbort): Promise<void> {
  stop.abort();
  stop.dispose();
  try {
    await iterator?.return?.();
  } catch {
    // What goes wrong now is in its owner's log.
  }
}

async function collect(iterator: AsyncIterator<unknown>, maxItems: number, deadline: Promise<symbol>): Promise<Pulled> {
  const items: unknown[] = [];
  while (items.length < maxItems) {
    const next = iterator.next();
    const step = await Promise.race([next, deadline]);
    if (typeof step === "symbol") {
      // The frame that came too late belongs to nobody.
      next.catch(() => {});
      return { items, ended: false };
    }
    if (step.done === true) return { items, ended: true };
    items.push(step.value);
  }
  return { items, ended: false };
}

/** Takes frames until there are enough, time is up or the stream ends; then stops the stream. */
export async function collectFrames(stream: Pullable, { maxItems, waitMs }: PullLimits): Promise<Pulled> {
  const stop = new LinkedAbort(stream.signal);
  let iterator: AsyncIterator<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), waitMs);
  });
  try {
    iterator = stream.open(stop.signal)[Symbol.asyncIterator]();
    return await collect(iterator, maxItems, deadline);
  } finally {
    clearTimeout(timer);
    void end(iterator, stop);
  }
}
