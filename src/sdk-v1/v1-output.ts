/** More than this many notices that are not sent yet, and there is no room for more. */
const maxPending = 256;

/** How one notice is sent. */
type Send = (message: object) => Promise<unknown>;

/** Sends notices, and knows whether they pile up: a transport takes as long as its client does. */
export class V1Output {
  readonly #onFull: (full: boolean) => void;
  #pending = 0;
  #isFull = false;

  /** @param onFull - told when notices begin to pile up, and when there is room again. */
  constructor(onFull: (full: boolean) => void) {
    this.#onFull = onFull;
  }

  /** Whether what is sent piles up unread. */
  readonly isFull = (): boolean => this.#isFull;

  /** Sends one message, of its JSON. What cannot be sent any more has no one left to read it. */
  send(json: string, by: Send): void {
    this.#pending += 1;
    this.#update();
    const done = (): void => {
      this.#pending -= 1;
      this.#update();
    };
    // Ours, and an object.
    void by(JSON.parse(json) as object)
      .catch(() => {})
      .finally(done);
  }

  #update(): void {
    // Let go at half of it, so that it is not held again with the very next one.
    const isFull = this.#pending >= (this.#isFull ? maxPending / 2 : maxPending);
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}
