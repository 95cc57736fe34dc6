/** Those who follow one signal. */
class Followers {
  readonly #signal: AbortSignal;
  readonly #tell = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(tell: () => void): () => void {
    // A wrapper of its own, so that one function added twice is told twice.
    const told = (): void => tell();
    if (this.#tell.size === 0) this.#signal.addEventListener("abort", this.#fire, { once: true });
    this.#tell.add(told);
    return () => this.#remove(told);
  }

  #remove(told: () => void): void {
    if (this.#tell.delete(told) && this.#tell.size === 0) this.#signal.removeEventListener("abort", this.#fire);
  }

  readonly #fire = (): void => {
    for (const tell of [...this.#tell]) if (this.#tell.delete(tell)) tell();
  };
}

const followersOf = new WeakMap<AbortSignal, Followers>();

/**
 * Calls `tell` when a signal fires; at once where it has. `tell` must not throw. Returns what stops following.
 *
 * A signal gets one listener for all who follow it. Each of them adding its own would cost a walk over the others to
 * leave, and from the eleventh on a warning of a leak that there is not.
 */
export function followSignal(signal: AbortSignal, tell: () => void): () => void {
  if (signal.aborted) {
    tell();
    return () => {};
  }
  let followers = followersOf.get(signal);
  if (followers === undefined) {
    followers = new Followers(signal);
    followersOf.set(signal, followers);
  }
  return followers.add(tell);
}
