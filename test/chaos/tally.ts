import { findStaleReads } from "./find-stale-reads.ts";
import type { ProcessFigures } from "./read-process.ts";
import { type Asked, type CycleHistory, isBackSoon } from "./history.ts";

/** Figures over all cycles so far. */
export class Tally {
  cycles = 0;
  reads = 0;
  /** Reads that failed though the next backend was there in time. */
  failedReads = 0;
  /** Cycles whose next backend was not. */
  slowStarts = 0;
  /** Reads that told less than a read before them. */
  staleReads = 0;
  notices = 0;
  duplicates = 0;
  leastInFlight = Infinity;
  /** Mutations, by how they were answered. */
  readonly mutations = new Map<string, number>();
  /** Strikes, by kind. */
  readonly strikes = new Map<string, number>();
  /** From the first strike to the first answer of the backend that is there after it, in milliseconds. */
  readonly outagesMs: number[] = [];
  /** From when that backend was started. */
  readonly restartsMs: number[] = [];
  /** From when it listened. */
  readonly redialsMs: number[] = [];
  /** The face after each cycle. */
  readonly figures: ProcessFigures[] = [];

  add(history: CycleHistory, figures: ProcessFigures): void {
    const { asked, journal, strikes, views, inFlight } = history;
    this.cycles += 1;
    this.leastInFlight = Math.min(this.leastInFlight, inFlight);
    this.figures.push(figures);
    const mayFail = !isBackSoon(history);
    if (mayFail) this.slowStarts += 1;
    for (const each of asked) this.#addAsked(each, mayFail);
    for (const { kind } of strikes) this.strikes.set(kind, (this.strikes.get(kind) ?? 0) + 1);
    for (const { notices } of views) this.notices += notices.length;
    const applied = journal.filter(({ what }) => what === "applied").map(({ id }) => id);
    this.duplicates += applied.length - new Set(applied).size;
    this.staleReads += findStaleReads(history).filter(({ before }) => before.sort === "read").length;
    this.#addTimes(history);
  }

  #addAsked({ sort, answers }: Asked, mayFail: boolean): void {
    const outcome = answers[0]?.outcome ?? "no answer";
    if (sort === "mutation") this.mutations.set(outcome, (this.mutations.get(outcome) ?? 0) + 1);
    else this.reads += 1;
    if (sort !== "mutation" && outcome !== "ok" && !mayFail) this.failedReads += 1;
  }

  #addTimes({ asked, strikes, restarts }: CycleHistory): void {
    const [restart] = restarts;
    const [first] = strikes;
    if (restart === undefined || first === undefined) return;
    const answers = asked.flatMap((each) => each.answers).filter(({ stamp }) => stamp?.gen === restart.gen);
    const at = answers.reduce((least, answer) => Math.min(least, answer.at), Infinity);
    if (at === Infinity) return;
    this.outagesMs.push(at - first.at);
    this.restartsMs.push(at - restart.at);
    // The first to connect may be answered before the backend has said that it listens.
    this.redialsMs.push(Math.max(0, at - restart.listeningAt));
  }
}
