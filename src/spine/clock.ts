/** A source of time: the system's, or a simulator's. */
export interface Clock {
  /** Milliseconds since a fixed moment. */
  now(): number;
  /** Runs `run` once after at least `delayMs`, never synchronously. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** Returns a random number: at least 0, less than 1. */
export type Random = () => number;
