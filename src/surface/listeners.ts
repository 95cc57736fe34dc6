import { runUnawaited } from "./fault.ts";

/** A list of listeners. The caller never waits for a listener, and an error of one does not stop the others. */
export class Listeners<TEvent = void> {
  readonly #all = new Set<(event: TEvent) => unknown>();

  get size(): number {
    return this.#all.size;
  }

  /** Adds a listener. Returns a function that removes it; after that it is not called again. */
  add(listener: (event: TEvent) => unknown): () => void {
    // A wrapper, so that a function that was added twice is called twice.
    const own = (event: TEvent): unknown => listener(event);
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  /** Calls all listeners, in the order in which they were added. `fail` gets each error of theirs, and must not throw. */
  tell(event: TEvent, fail: (cause: unknown) => void): void {
    for (const listener of [...this.#all]) {
      // An earlier listener may have removed this one.
      if (this.#all.has(listener)) runUnawaited(() => listener(event), fail);
    }
  }

  clear(): void {
    this.#all.clear();
  }
}
