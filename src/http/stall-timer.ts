import type { Clock } from "../spine/clock.ts";

/** Tells when a stream has stayed full for too long. It has a timer only while the stream is full. Its maker closes it. */
export class StallTimer {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #onStalled: () => void;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, afterMs: number, onStalled: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#onStalled = onStalled;
  }

  /** Says whether the stream is full now. */
  update(isFull: boolean): void {
    if (!isFull) this.close();
    else this.#stop ??= this.#clock.after(this.#afterMs, this.#onStalled);
  }

  /** Stops. Callable twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
