import { followSignal } from "./follow-signal.ts";

/**
 * An abort signal that fires with the first of several others, with its reason, and then lets go of them all.
 * `AbortSignal.any` is not used: combined with a long-lived signal it keeps every short-lived one alive on Node 20.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #unlink: (() => void)[] = [];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    for (const source of sources) {
      if (this.#controller.signal.aborted) break;
      if (source !== undefined) this.#unlink.push(followSignal(source, () => this.#fire(source)));
    }
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

  #fire(source: AbortSignal): void {
    this.dispose();
    this.#controller.abort(source.reason);
  }
}
