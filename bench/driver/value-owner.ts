import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Burst, Memory, Order, Place, Report } from "../tools/orders.ts";

const hangMs = 60_000;

/** The process that owns the value, as its driver sees it. */
export class ValueOwner {
  readonly #child: ChildProcess;

  /** @param child - a process with a channel, which obeys. */
  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Has it write the next value. */
  change(): void {
    this.#tell({ kind: "change" });
  }

  /** When it has written since it was asked last, and what. */
  report(): Promise<Report> {
    return this.#ask<Report>({ kind: "report" });
  }

  /** Has it write many values; resolves when it has, with the times of the first and of the last. */
  burst(burst: Burst): Promise<Report> {
    return this.#ask<Report>({ kind: "burst", ...burst });
  }

  /** What it holds, once all garbage is gone. */
  memory(): Promise<Memory> {
    return this.#ask<Memory>({ kind: "memory" });
  }

  /** Where it serves. */
  place(): Promise<Place> {
    return this.#ask<Place>({ kind: "place" });
  }

  #tell(order: Order): void {
    this.#child.send(order);
  }

  async #ask<TAnswer>(order: Order): Promise<TAnswer> {
    const answered = once(this.#child, "message", { signal: AbortSignal.timeout(hangMs) });
    this.#tell(order);
    // It answers what it is asked, and sends nothing else.
    const [report] = (await answered) as [TAnswer];
    return report;
  }
}
