/** Why a value is not known to be the newest. Later versions may know further reasons. */
export interface Staleness {
  /**
   * `lost`: what it comes from cannot be reached, or has failed. `invalid`: what came after it did not fit its schema and
   * was refused. `ended`: what it comes from has ended, and may have ended early.
   */
  readonly reason: "lost" | "invalid" | "ended";
  /** Since when, ISO 8601. */
  readonly since: string;
}

/** A value, and whether it is known to be the newest. */
export interface Reading<TValue = unknown> {
  readonly value: TValue;
  /** Left out for a value that is as new as can be known. */
  readonly stale?: Staleness;
}

/**
 * A value on a channel that is not known to be the newest. It stands where the value itself would, for cells and
 * collections, so that what carries values need not know of it; clients hand out the value, and say that it is stale only
 * to those who ask for a {@link Reading}.
 */
export class Stale {
  readonly value: unknown;
  readonly staleness: Staleness;

  constructor(value: unknown, staleness: Staleness) {
    this.value = value;
    this.staleness = staleness;
  }
}

/** The value itself. */
export function toPlainValue(carried: unknown): unknown {
  return carried instanceof Stale ? carried.value : carried;
}

/** A value on a channel, and whether it is stale. */
export function toReading(carried: unknown): Reading {
  return carried instanceof Stale ? { value: carried.value, stale: carried.staleness } : { value: carried };
}

/** The way back: what stands on a channel for a reading. */
export function fromReading({ value, stale }: Reading): unknown {
  return stale === undefined ? value : new Stale(value, stale);
}
