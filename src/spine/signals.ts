import { SurfaceError } from "../errors.ts";
import { handleThrown } from "./handle-thrown.ts";

/** The callbacks that follow one signal, with one listener for all. */
class Followers {
  readonly #signal: AbortSignal;
  readonly #callbacks = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(callback: () => void): () => void {
    // A wrapper, so that one function added twice is called twice.
    const own = (): void => callback();
    if (this.#callbacks.size === 0) this.#signal.addEventListener("abort", this.#fire, { once: true });
    this.#callbacks.add(own);
    return () => this.#remove(own);
  }

  #remove(own: () => void): void {
    if (this.#callbacks.delete(own) && this.#callbacks.size === 0) {
      this.#signal.removeEventListener("abort", this.#fire);
    }
  }

  readonly #fire = (): void => {
    for (const callback of [...this.#callbacks]) if (this.#callbacks.delete(callback)) callback();
  };
}

const followersOf = new WeakMap<AbortSignal, Followers>();

/**
 * Calls `callback` when a signal fires; at once if it has. `callback` must not throw. Returns a function that stops it.
 *
 * A signal gets one listener for all followers: with one for each, leaving would cost a walk over the others, and Node.js would warn
 * of a leak from the eleventh on.
 */
export function followSignal(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return nothing;
  }
  let followers = followersOf.get(signal);
  if (followers === undefined) {
    followers = new Followers(signal);
    followersOf.set(signal, followers);
  }
  return followers.add(callback);
}

/** The cancellation of one operation. */
export interface Cancellation {
  readonly signal?: AbortSignal | undefined;
  /** Does what {@link followAbort} does, and creates no signal. @default follows the signal */
  whenAborted?(callback: (reason: unknown) => void): () => void;
}

function nothing(): void {}

/**
 * Calls `callback` with the reason when an operation is cancelled; at once if it was. `callback` must not throw. Returns a function
 * that stops it.
 */
export function followAbort(by: Cancellation, callback: (reason: unknown) => void): () => void {
  if (by.whenAborted !== undefined) return by.whenAborted(callback);
  // Read once: a getter may create it.
  const { signal } = by;
  return signal === undefined ? nothing : followSignal(signal, () => callback(signal.reason));
}

/**
 * An abort signal that fires with the first of several others, with its reason, and then stops listening to them.
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

/** Returns the error of an action that its caller cancelled: the reason of the signal if it is an error of this package. */
export function createAbortedError({ reason }: { readonly reason: unknown }, doing: string): SurfaceError {
  handleThrown(reason);
  return reason instanceof SurfaceError ? reason : new SurfaceError("ABORTED", `${doing}: the caller cancelled`);
}

/** Work for {@link untilAborted}. */
export interface Cancellable<TValue> {
  /** Starts the work. Not called if the signal has fired already. */
  readonly start: () => Promise<TValue>;
  readonly signal: AbortSignal;
  /** Names the work in the error, for example `Calling "node.rerun"`. */
  readonly doing: string;
}

/**
 * Settles as the work does, or rejects as soon as the signal fires; the later outcome of the work is dropped.
 *
 * @throws SurfaceError `ABORTED`, or the reason of the signal if it is an error of this package.
 */
export async function untilAborted<TValue>({ start, signal, doing }: Cancellable<TValue>): Promise<TValue> {
  if (signal.aborted) throw createAbortedError(signal, doing);
  const work = start();
  return new Promise<TValue>((resolve, reject) => {
    const leave = followSignal(signal, () => {
      reject(createAbortedError(signal, doing));
      // No caller sees a later failure.
      work.catch(handleThrown);
    });
    work.then(resolve, reject).finally(leave);
  });
}
