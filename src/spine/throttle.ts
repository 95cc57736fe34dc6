import type { Clock } from "./clock.ts";

/** Notifications of a change that go out at once after rest. */
export const noticesAtOnce = 4;

/** Options of a {@link Throttle}. */
export interface ThrottleOptions {
  readonly clock: Clock;
  /** Milliseconds in which one token comes back. */
  readonly windowMs: number;
  /** Number of tokens that the bucket holds. @default 1 */
  readonly burst?: number;
  fire(): void;
}

/**
 * A token bucket: fires at once while it has tokens, then at most once a window, and always once more after the last touch.
 * Holds two numbers and never a queue.
 */
export class Throttle {
  readonly #options: ThrottleOptions;
  /** When the bucket is full again. Each token that is taken moves it on by a window. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #stop: (() => void) | undefined;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** Announces a change, at once or when the next token has come. */
  touch(): void {
    if (this.#stop !== undefined) return;
    const left = this.#left();
    if (left <= 0) this.#fire();
    else this.#arm(left);
  }

  /** Forgets a pending change. Callable twice; a touch after it counts again. */
  dispose(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Returns the milliseconds until there is a token; never more than one window, even after the clock was set back. */
  #left(): number {
    const { clock, windowMs, burst = 1 } = this.#options;
    this.#fullAt = Math.min(this.#fullAt, clock.now() + burst * windowMs);
    return this.#fullAt - (burst - 1) * windowMs - clock.now();
  }

  #arm(delayMs: number): void {
    this.#stop = this.#options.clock.after(Math.ceil(delayMs), () => {
      this.#stop = undefined;
      // A timer may fire early, when there is no token yet.
      const left = this.#left();
      if (left > 0) this.#arm(left);
      else this.#fire();
    });
  }

  #fire(): void {
    const { clock, windowMs } = this.#options;
    this.#fullAt = Math.max(this.#fullAt, clock.now()) + windowMs;
    this.#options.fire();
  }
}
