import type { Clock } from "./clock.ts";

/** What a {@link Throttle} does, and how often at most. */
export interface ThrottleSetting {
  readonly clock: Clock;
  readonly windowMs: number;
  fire(): void;
}

/**
 * Fires at once after quiet, then at most once a window, and always once more after the last touch. Holds one bit, never
 * a queue.
 */
export class Throttle {
  readonly #setting: ThrottleSetting;
  #quietAt = Number.NEGATIVE_INFINITY;
  #stop: (() => void) | undefined;

  constructor(setting: ThrottleSetting) {
    this.#setting = setting;
  }

  /** Something has changed. */
  touch(): void {
    if (this.#stop !== undefined) return;
    const left = this.#left();
    if (left <= 0) this.#fire();
    else this.#arm(left);
  }

  /** Forgets what is pending. Callable twice; a touch after it counts again. */
  dispose(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Milliseconds until the window ends; never more than one window, also where the clock was set back. */
  #left(): number {
    const { clock, windowMs } = this.#setting;
    this.#quietAt = Math.min(this.#quietAt, clock.now() + windowMs);
    return this.#quietAt - clock.now();
  }

  #arm(delayMs: number): void {
    this.#stop = this.#setting.clock.after(Math.ceil(delayMs), () => {
      this.#stop = undefined;
      // Timers may fire early, and two notices less than a window apart are what this is here to prevent.
      const left = this.#left();
      if (left > 0) this.#arm(left);
      else this.#fire();
    });
  }

  #fire(): void {
    this.#quietAt = this.#setting.clock.now() + this.#setting.windowMs;
    this.#setting.fire();
  }
}
