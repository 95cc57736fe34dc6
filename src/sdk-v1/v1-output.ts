/** The most notifications on their way to the transport before the output counts as full. */
const maxPending = 256;

/** Sends notifications, and counts those that the transport has not taken: it takes as long as its client reads. */
export class V1Output {
  readonly #onFull: (full: boolean) => void;
  #pending = 0;
  #isFull = false;

  /** @param onFull - called when notifications begin to pile up, and when there is room again. */
  constructor(onFull: (full: boolean) => void) {
    this.#onFull = onFull;
  }

  /** Returns whether notifications pile up unread. */
  readonly isFull = (): boolean => this.#isFull;

  /** Sends a message, given as JSON. A failure is ignored: then no client reads any more. */
  send(json: string, send: (message: object) => Promise<unknown>): void {
    this.#count(1);
    // Ours, and an object.
    void send(JSON.parse(json) as object)
      .catch(() => {})
      .finally(() => this.#count(-1));
  }

  #count(change: 1 | -1): void {
    this.#pending += change;
    // Free again at half of it, or the very next notification would fill it.
    const isFull = this.#pending >= (this.#isFull ? maxPending / 2 : maxPending);
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}
