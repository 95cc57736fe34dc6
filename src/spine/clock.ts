/** Time, as the spine sees it. Whoever makes a spine hands it one: the real one, or a simulator's. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back on a real machine. */
  now(): number;
  /** Runs `run` once, when at least `delayMs` have passed; returns what takes it back. Must not run it at once. */
  after(delayMs: number, run: () => void): () => void;
}

/** Chance, as the spine sees it: at least 0, less than 1. */
export type Random = () => number;
