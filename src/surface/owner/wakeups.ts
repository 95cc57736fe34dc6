/** Those who wait for something to change. */
export class Wakeups {
  readonly #waiting = new Set<() => void>();

  /** Wakes everybody who waits now. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves with the next change, or when `signal` fires. The caller looks at what has changed afterwards. */
  next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
