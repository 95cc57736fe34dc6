import { toMissed } from "../channel.ts";
import type { Memory } from "./handler-context.ts";
import { noGap, type Gap } from "./ring.ts";

/** What the handler of one ring goes on from, and what it says besides its occurrences, for the feed that keeps the ring. */
export class EventMemory implements Memory {
  state: unknown = undefined;
  /** Told once there is nothing left to wait for. */
  onLanded: () => void = () => {};
  #hasLanded = false;
  #isLanding = false;
  #gap = noGap;

  /** Whether what was kept further up before the handler began is still to be told. */
  get isLanding(): boolean {
    return this.#isLanding;
  }

  expect(): void {
    this.#isLanding = !this.#hasLanded;
  }

  landed(): void {
    this.#hasLanded = true;
    if (!this.#isLanding) return;
    this.#isLanding = false;
    this.onLanded();
  }

  lost(missed: number): void {
    // What a ring counts on with must be a number of occurrences, whatever was told further up.
    const told = toMissed(missed) ?? 0;
    this.#gap = { missed: toMissed(this.#gap.missed + told) ?? 0, isReset: true };
  }

  /** What was lost since the last occurrence that was told. */
  takeGap(): Gap {
    const gap = this.#gap;
    this.#gap = noGap;
    return gap;
  }
}
