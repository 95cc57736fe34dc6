/**
 * An abort signal that fires with the first of several others, and lets go of them when disposed. `AbortSignal.any` is
 * not used: combined with a long-lived signal it keeps every short-lived one alive on Node 20.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #unlink: (() => void)[] = [];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    for (const source of sources) if (source !== undefined) this.#link(source);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Fires the signal by hand. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops listening to the sources. Does not fire the signal. Callable twice. */
  dispose(): void {
    for (const unlink of this.#unlink.splice(0)) unlink();
  }

  #link(source: AbortSignal): void {
    const fire = (): void => this.#controller.abort(source.reason);
    if (source.aborted) {
      fire();
      return;
    }
    source.addEventListener("abort", fire, { once: true });
    this.#unlink.push(() => source.removeEventListener("abort", fire));
  }
}
