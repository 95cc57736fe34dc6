/** Buckets an octave: a quantile is right within a tenth. */
const perOctave = 4;
const leastMs = 0.01;
/** Up to 2.8 minutes. */
const buckets = 24 * perOctave;

/** Counts durations in buckets that grow by a factor, in bounded memory. */
export class Latencies {
  readonly #counts = new Uint32Array(buckets);
  #total = 0;

  /** @param ms - anything: a bad duration counts as the shortest. */
  add(ms: number): void {
    const at = Math.floor(Math.log2(ms / leastMs) * perOctave);
    const bucket = at >= 0 ? Math.min(at, buckets - 1) : 0;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
  }

  clear(): void {
    if (this.#total > 0) this.#counts.fill(0);
    this.#total = 0;
  }

  /** Returns the duration in milliseconds that a part of all do not exceed; `undefined` without any. @param part - from 0 to 1. */
  quantile(part: number): number | undefined {
    let left = Math.max(1, Math.ceil(this.#total * part));
    if (this.#total === 0) return undefined;
    const bucket = this.#counts.findIndex((count) => (left -= count) <= 0);
    return Number((leastMs * 2 ** ((bucket + 0.5) / perOctave)).toPrecision(3));
  }
}
