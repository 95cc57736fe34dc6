import { LinkedAbort } from "../../spine/linked-abort.ts";
import type { Scope } from "../../spine/scope.ts";
import type { CallOptions } from "../client.ts";

/** What a handler receives besides its input. */
export interface HandlerContext<TProgress = unknown> {
  /** Fires when the caller cancels, its deadline passes, or the surface closes. */
  readonly signal: AbortSignal;
  /** Tells the caller how far along the work is. Does nothing once the handler has finished. */
  progress(progress: TProgress): void;
}

/** One use of a handler. Its signal is made only if the handler asks for one. */
export class OwnedUse implements HandlerContext {
  readonly #use: CallOptions;
  readonly #scope: Scope;
  #linked: LinkedAbort | undefined;
  #ended = false;

  constructor(use: CallOptions, scope: Scope) {
    this.#use = use;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    this.#linked ??= new LinkedAbort(this.#use.signal, this.#scope.signal);
    return this.#linked.signal;
  }

  progress(progress: unknown): void {
    if (!this.#ended) this.#use.onProgress?.(progress);
  }

  /** Ends the use: progress falls silent and the signal lets go of its sources. */
  end(): void {
    this.#ended = true;
    this.#linked?.dispose();
  }
}
