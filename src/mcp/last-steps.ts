import type { ProgressSink } from "../call/call-context.ts";
import type { Clock } from "../spine/clock.ts";

/** How long an answer stays behind what was told last, in milliseconds: a client that is not busy has read that by then. */
const apartMs = 10;

/**
 * The progress that a call tells, and how long its answer stays behind it. Clients of both SDKs drop progress that they read in
 * one piece with its answer: they take an answer at once, and what stands before it a little later.
 */
export class LastSteps {
  readonly sink: ProgressSink;
  readonly #clock: Clock;
  #isWriting = false;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** @param sink - writes what was told in a turn of the event loop at its end. */
  constructor(sink: ProgressSink, clock: Clock) {
    this.#clock = clock;
    const write: ProgressSink = (report) => {
      sink(report);
      if (this.#isWriting) return;
      this.#isWriting = true;
      // Behind what writes, which was asked for first.
      setImmediate(() => {
        this.#isWriting = false;
        this.#writtenAt = clock.now();
      });
    };
    this.sink = write;
  }

  /** Resolves when the answer may follow; `undefined`: now, since nothing was told just before. */
  get apart(): Promise<void> | undefined {
    const restMs = this.#isWriting ? apartMs : this.#writtenAt + apartMs - this.#clock.now();
    return restMs > 0 ? new Promise((resolve) => void this.#clock.after(restMs, resolve)) : undefined;
  }
}
