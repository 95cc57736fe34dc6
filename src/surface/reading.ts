/** The reason why a value may not be the newest. Later versions may add reasons. */
export interface Staleness {
  /** `lost`: the source failed or cannot be reached. `invalid`: a newer value did not fit its schema. `ended`: it ended, perhaps early. */
  readonly reason: "lost" | "invalid" | "ended";
  /** The start of this state, ISO 8601. */
  readonly since: string;
}

/** A value, and whether it may be stale. */
export interface Reading<TValue = unknown> {
  readonly value: TValue;
  /** Present if the value may not be the newest. */
  readonly stale?: Staleness;
}

/** A stale value on a channel, in place of the value. Clients unwrap it: `get` returns the value, `reading` a {@link Reading}. */
export class Stale {
  readonly value: unknown;
  readonly staleness: Staleness;

  constructor(value: unknown, staleness: Staleness) {
    this.value = value;
    this.staleness = staleness;
  }
}

/** Returns the value of an answer, without its staleness. */
export function plainValueOf(answer: unknown): unknown {
  return answer instanceof Stale ? answer.value : answer;
}

/** Returns the value of an answer, with its staleness. */
export function toReading(answer: unknown): Reading {
  return answer instanceof Stale ? { value: answer.value, stale: answer.staleness } : { value: answer };
}

/** Returns a reading as an answer of a channel. The inverse of {@link toReading}. */
export function fromReading({ value, stale }: Reading): unknown {
  return stale === undefined ? value : new Stale(value, stale);
}
