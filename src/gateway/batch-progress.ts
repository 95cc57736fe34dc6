import type { EntryCall, ProgressReport } from "../catalog/entry.ts";

/** How far the calls of a batch are, as progress of the call that made them: `2 of 5: fetching`. */
export class BatchProgress {
  readonly #call: EntryCall;
  /** How far each is: 0 to 1. */
  readonly #shares: number[];

  constructor(call: EntryCall, count: number) {
    this.#call = call;
    this.#shares = Array.from({ length: count }, () => 0);
  }

  /** Passes on how far one of them is, as a share of one. */
  report(index: number, { progress, total, message }: ProgressReport): void {
    const before = this.#shares[index] ?? 0;
    const said = total !== undefined && total > 0 ? progress / total : 0;
    // Progress has to grow: one that does not say how far it goes comes closer to the end, and never to it.
    this.#tell(index, said > before && said < 1 ? said : before + (1 - before) / 16, message);
  }

  /** One of them has ended; it has no name where it was none. */
  finish(index: number, tool: string | undefined): void {
    this.#tell(index, 1, tool);
  }

  #tell(index: number, share: number, message: string | undefined): void {
    this.#shares[index] = share;
    const count = this.#shares.length;
    const place = `${index + 1} of ${count}`;
    this.#call.progress({
      progress: this.#shares.reduce((sum, one) => sum + one, 0),
      total: count,
      message: message === undefined ? place : `${place}: ${message}`,
    });
  }
}
