import type { SurfaceError } from "../../errors.ts";
import { followSignal, LinkedAbort } from "../../spine/signals.ts";
import { RelayedError } from "../relayed.ts";

/** That upstream has ended what goes on for as long as it lives itself. */
export function createGone(): SurfaceError {
  return new RelayedError("UNAVAILABLE", "what this comes from has ended");
}

/** One of the iterations that are followed, and what is done with its values. */
export interface Followed<TValue> {
  open(signal: AbortSignal): AsyncIterable<TValue>;
  /** Takes a value. What it throws fails the whole gathering. */
  take(value: TValue): void;
  /** Whether its end is no failure. Default: it is one. */
  readonly mayEnd?: boolean;
}

/**
 * Follows several iterations at once, for one who looks at what they have come to whenever something has moved. Values
 * that nobody looked at are replaced by newer ones and do not pile up. It fails when one of them fails, or ends.
 */
export class Gathering {
  readonly #signal: AbortSignal;
  readonly #leaveSignal: () => void;
  readonly #stops: (() => Promise<void>)[] = [];
  #wake: () => void = () => {};
  #hasMoved = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#leaveSignal = followSignal(signal, () => this.#wake());
  }

  /** Follows one more. */
  follow<TValue>(followed: Followed<TValue>): void {
    const linked = new LinkedAbort(this.#signal);
    const running = this.#run(followed, linked.signal).finally(() => linked.dispose());
    this.#stops.push(() => {
      linked.abort();
      return running;
    });
  }

  /** Resolves once something has moved since the last time, with whether there is more to come; rejects as one of them has. */
  async moved(): Promise<boolean> {
    while (!this.#hasMoved && this.#failure === undefined && !this.#signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    this.#hasMoved = false;
    if (this.#signal.aborted) return false;
    if (this.#failure !== undefined) throw this.#failure.cause;
    return true;
  }

  /** Stops them all, and waits for every `finally`. */
  async close(): Promise<void> {
    this.#leaveSignal();
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  /** Never rejects. */
  async #run<TValue>(followed: Followed<TValue>, signal: AbortSignal): Promise<void> {
    try {
      for await (const value of followed.open(signal)) {
        if (signal.aborted) return;
        followed.take(value);
        this.#move();
      }
      if (!signal.aborted && followed.mayEnd !== true) this.#fail(createGone());
    } catch (cause) {
      if (!signal.aborted) this.#fail(cause);
    }
  }

  #fail(cause: unknown): void {
    this.#failure ??= { cause };
    this.#wake();
  }

  #move(): void {
    this.#hasMoved = true;
    this.#wake();
  }
}
