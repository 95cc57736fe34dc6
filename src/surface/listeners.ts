import { runUnawaited } from "./fault.ts";

/** Code that is told of something each time that it happens. Nobody waits for it, and what it throws is no fault of who tells. */
export class Listeners<TTold = void> {
  readonly #all = new Set<(told: TTold) => unknown>();

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Tells it too, from now on. Returns what stops that, after which it is told nothing. */
  add(listener: (told: TTold) => unknown): () => void {
    // One of its own, so that adding one function twice makes two of it.
    const own = (told: TTold): unknown => listener(told);
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  /**
   * Tells all of them, in the order in which they came.
   *
   * @param fail - told what each throws, or rejects with. Must not throw.
   */
  tell(told: TTold, fail: (cause: unknown) => void): void {
    for (const listener of [...this.#all]) {
      // One of them may have stopped another.
      if (this.#all.has(listener)) runUnawaited(() => listener(told), fail);
    }
  }

  /** Tells none of them any more. */
  clear(): void {
    this.#all.clear();
  }
}
