/** Something to tell, written when there is room for it. */
export interface Notice {
  /** Writes it as of now. Must not throw. */
  write(): void;
}

/**
 * Writes notices at once, or keeps what there is to tell while it is held: one bit for each notice, however often it is
 * posted, and no queue of what they said.
 */
export class Outbox {
  /** In the order in which they were first posted, so that none waits for those that are posted all the time. */
  readonly #kept = new Set<Notice>();
  #held = false;

  /** Writes it, or keeps that it is to be written. */
  post(notice: Notice): void {
    if (this.#held) this.#kept.add(notice);
    else notice.write();
  }

  /** Forgets that it was to be written. */
  drop(notice: Notice): void {
    this.#kept.delete(notice);
  }

  /** Writes nothing until it is released. Callable twice. */
  hold(): void {
    this.#held = true;
  }

  /** Writes what was kept, each once, until somebody holds it again. */
  release(): void {
    this.#held = false;
    for (const notice of this.#kept) {
      // Asked each time: what is written may fill the output.
      if (this.#held) return;
      this.#kept.delete(notice);
      notice.write();
    }
  }
}
