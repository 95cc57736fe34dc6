import type { ObservedOperation, Outcome, RefusalStage } from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { Cut, SecondTotals, ToolTotals } from "./messages.ts";
import { cut, toName } from "./texts.ts";

/** Seconds that are kept. */
const maxSeconds = 120;

/** Tools that are counted each by itself. */
const maxTools = 1000;

const maxShownTools = 100;

/** The name of all further tools. */
const furtherTools = "…";

/** Buckets an octave: a quantile is right within a tenth. A power of two. */
const perOctave = 8;

/** Up to 4.5 minutes, in microseconds. */
const maxUs = 2 ** 28 - 1;
const buckets = 26 * perOctave;

/** Returns the bucket of a duration. @param ms - anything: a bad duration counts as the shortest. */
function toBucket(ms: number): number {
  // Bits, since a logarithm takes ten times as long, in each call.
  const us = Math.max(0, Math.min(ms * 1000, maxUs)) | 0;
  const shift = Math.max(0, 28 - Math.clz32(us));
  return shift * perOctave + (us >> shift);
}

/** Returns the middle of a bucket in milliseconds. */
function toMs(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / perOctave) - 1);
  return ((bucket - shift * perOctave + 0.5) * 2 ** shift) / 1000;
}

/** Counts durations in buckets that grow by a factor, in bounded memory. */
class Latencies {
  readonly #counts = new Uint32Array(buckets);
  #total = 0;

  /** @param bucket - that of {@link toBucket}. */
  add(bucket: number): void {
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
    return Number(toMs(bucket).toPrecision(3));
  }
}

/** Counts ended calls. */
class Counts {
  calls = 0;
  failed = 0;
  refused = 0;
  readonly latencies = new Latencies();

  /** @param bucket - of its latency; `undefined` for a call that waited for a person. */
  add(outcome: Outcome, bucket: number | undefined): void {
    this.calls += 1;
    if (outcome === "failed") this.failed += 1;
    else if (outcome === "refused") this.refused += 1;
    if (bucket !== undefined) this.latencies.add(bucket);
  }

  clear(): void {
    this.calls = 0;
    this.failed = 0;
    this.refused = 0;
    this.latencies.clear();
  }

  toTotals(): Omit<ToolTotals, "tool"> {
    const { calls, failed, refused, latencies } = this;
    return toDefined({ calls, failed, refused, p50: latencies.quantile(0.5), p99: latencies.quantile(0.99) });
  }
}

/** An ended call of a tool. */
interface EndedCall {
  readonly outcome: Outcome;
  readonly ms: number;
  readonly operation: ObservedOperation | undefined;
  /** Whether it waited for a person, which its latency leaves out. */
  readonly waited: boolean;
}

class Second extends Counts {
  /** Its number, as the clock counts. */
  number = -1;
}

/** Counts ended calls by second and by tool, and refusals by stage. */
export class Totals {
  readonly #seconds: readonly Second[] = Array.from({ length: maxSeconds }, () => new Second());
  readonly #tools = new Map<string, Counts>();
  readonly #refusals = new Map<RefusalStage, number>();

  /** Counts an ended call of a tool. @param now - milliseconds as the clock counts. */
  add({ outcome, ms, operation, waited }: EndedCall, now: number): void {
    const bucket = waited ? undefined : toBucket(ms);
    this.#secondAt(Math.floor(now / 1000))?.add(outcome, bucket);
    // Without an operation the name is the caller's word.
    if (operation !== undefined) this.#countsOf(operation.name ?? operation.id).add(outcome, bucket);
  }

  refused(stage: RefusalStage): void {
    this.#refusals.set(stage, (this.#refusals.get(stage) ?? 0) + 1);
  }

  /** @param toUnix - converts a time of the clock. */
  seconds(now: number, toUnix: (time: number) => number): readonly SecondTotals[] {
    const last = Math.floor(now / 1000);
    const kept = this.#seconds.filter(({ number, calls }) => calls > 0 && number <= last && number > last - maxSeconds);
    return kept
      .toSorted((left, right) => left.number - right.number)
      .map((second) => ({ at: toUnix(second.number * 1000), ...second.toTotals() }));
  }

  /** The tools with the most calls. */
  get tools(): Cut<ToolTotals> {
    const most = [...this.#tools].toSorted(([, left], [, right]) => right.calls - left.calls);
    const { rows, more } = cut(most, maxShownTools);
    return { rows: rows.map(([tool, counts]) => ({ tool: toName(tool), ...counts.toTotals() })), more };
  }

  get refusals(): Readonly<Partial<Record<RefusalStage, number>>> {
    return Object.fromEntries(this.#refusals);
  }

  #secondAt(number: number): Second | undefined {
    const second = this.#seconds[number % maxSeconds];
    if (second === undefined || second.number === number) return second;
    second.clear();
    second.number = number;
    return second;
  }

  #countsOf(tool: string): Counts {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const name = this.#tools.size < maxTools ? tool : furtherTools;
    const counts = this.#tools.get(name) ?? new Counts();
    this.#tools.set(name, counts);
    return counts;
  }
}
