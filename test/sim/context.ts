import { Chance } from "./chance.ts";
import { SimClock } from "./sim-clock.ts";

/** Which promise was broken, and how. */
export interface Violation {
  readonly invariant: string;
  readonly text: string;
}

/** What all parts of one simulated world share: time, chance, the verdict and, where somebody wants it, the story. */
export class Context {
  readonly chance = new Chance();
  readonly clock = new SimClock();
  /** Counts whatever the spine does to the outside, so that "nothing has happened" can be checked. */
  activity = 0;
  violation: Violation | undefined;
  /** No faults from here on. */
  isCalm = false;
  readonly faults: Record<string, number> = {};
  readonly trace: string[] | undefined;
  /** How often the spine has called one of its ports. */
  calls = 0;
  /** Which of these calls goes wrong; 0: none on purpose. */
  failAt = 0;
  #depth = 0;
  #meddle: () => void = () => {};

  constructor(isTraced: boolean) {
    if (isTraced) this.trace = [];
  }

  /** The first one counts. */
  fail(invariant: string, text: string): void {
    this.violation ??= { invariant, text };
    this.trace?.push(`  !! ${invariant} ${text}`);
  }

  fault(kind: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    this.trace?.push(`  fault: ${kind}`);
  }

  /** Counts a call of a port; whether this is the one that goes wrong. */
  isFailing(): boolean {
    this.calls += 1;
    return this.calls === this.failAt;
  }

  /** The far side misbehaves, so likely as said, for as long as faults are allowed. */
  strikes(likelihood: number): boolean {
    return !this.isCalm && this.chance.hits(likelihood);
  }

  /** What a client may do from within a callback. */
  onMeddle(meddle: () => void): void {
    this.#meddle = meddle;
  }

  /** Somebody who was called calls back in, at times, and not without end. */
  meddle(likelihood: number): void {
    if (this.#depth >= 2 || !this.strikes(likelihood)) return;
    this.#depth += 1;
    this.trace?.push("  re-entered:");
    this.#meddle();
    this.#depth -= 1;
  }
}
