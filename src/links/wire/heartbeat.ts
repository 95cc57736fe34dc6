import type { Clock } from "../../spine/clock.ts";

/** What a {@link Heartbeat} watches over. */
export interface HeartbeatSetting {
  readonly clock: Clock;
  /** How long nothing is heard before the far side is asked, in milliseconds. */
  readonly everyMs: number;
  /** Whether something was heard since this was last asked. */
  takeHeard(): boolean;
  /** Whether bytes came or were taken since this was last asked, be it of a message that takes longer than an interval. */
  takeMoved(): boolean;
  /** Lets the far side hear something. */
  tell(): void;
  /** Asks the far side whether it is there. */
  ask(): void;
  /** It is not. */
  lost(): void;
}

/** How many intervals without a sign of life are too many: one before it is asked, two after. */
const maxSilent = 3;

/** A timer that fires this much of an interval late says that this process did not run, and nothing of the far side. */
const lateShare = 0.2;

/** Asks a far side that has fallen silent whether it is there, and gives it up when it does not answer. */
export class Heartbeat {
  readonly #setting: HeartbeatSetting;
  #silent = 0;
  #stop: () => void;
  #isOver = false;

  constructor(setting: HeartbeatSetting) {
    this.#setting = setting;
    this.#stop = this.#arm();
  }

  /** Stops it. Callable twice. */
  stop(): void {
    this.#isOver = true;
    this.#stop();
  }

  #arm(): () => void {
    const { clock, everyMs } = this.#setting;
    const dueAt = clock.now() + everyMs;
    return clock.after(everyMs, () => {
      if (this.#isOver) return;
      const isLate = clock.now() - dueAt > everyMs * lateShare;
      this.#tick(isLate);
      if (!this.#isOver) this.#stop = this.#arm();
    });
  }

  #tick(isLate: boolean): void {
    const wasHeard = this.#setting.takeHeard();
    const hasMoved = this.#setting.takeMoved();
    // Its answer would come behind the message that is under way, and it may hear nothing else of us until then.
    if (hasMoved && !wasHeard) this.#setting.tell();
    if (wasHeard || hasMoved || isLate) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent === 1) this.#setting.ask();
    if (this.#silent < maxSilent) return;
    this.stop();
    this.#setting.lost();
  }
}
