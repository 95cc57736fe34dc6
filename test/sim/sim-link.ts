import type { DialEvents, HeldLink } from "../../src/spine/connection-manager.ts";

/** One attempt to reach the far side. */
export class SimAttempt {
  readonly id: number;
  readonly events: DialEvents<SimLink>;
  isAbandoned = false;
  /** Whether what became of it was told. */
  isTold = false;

  constructor(id: number, events: DialEvents<SimLink>) {
    this.id = id;
    this.events = events;
  }
}

/** A link that was opened. The spine holds it; the far side decides how it ends. */
export class SimLink implements HeldLink {
  readonly id: number;
  readonly attempt: SimAttempt;
  readonly #closing: (link: SimLink) => void;
  closes = 0;
  /** Broken, whether or not that was told. */
  isDead = false;
  isLeaving = false;
  isEnded = false;

  constructor(attempt: SimAttempt, closing: (link: SimLink) => void) {
    this.id = attempt.id;
    this.attempt = attempt;
    this.#closing = closing;
  }

  /** Whether the spine may use it: opened, not closed, and nothing was told of its end. */
  get isPresent(): boolean {
    return this.closes === 0 && !this.isLeaving && !this.isEnded;
  }

  close(): void {
    this.closes += 1;
    this.#closing(this);
  }
}
