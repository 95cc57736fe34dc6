import { type ConnectionManager, dialTimeoutMs, redial } from "../../src/spine/connection-manager.ts";
import { reopen } from "../../src/spine/subscriptions.ts";
import type { Context } from "./context.ts";
import type { Lane } from "./sim-clock.ts";
import type { SimLink } from "./sim-link.ts";

const longestTimerMs = 2 ** 31 - 1;

/** What delays between attempts may be, told independently of how the spine works them out. */
export class RedialModel {
  readonly #context: Context;
  readonly #holder: ConnectionManager<SimLink>;
  #longestMs: number = redial.baseMs;
  #upSince: number | undefined;

  constructor(context: Context, holder: ConnectionManager<SimLink>) {
    this.#context = context;
    this.#holder = holder;
  }

  onOpened(): void {
    this.#upSince = this.#context.clock.now();
  }

  onTimer(lane: Lane, delayMs: number): void {
    const context = this.#context;
    context.activity += 1;
    context.trace?.push(`  timer of ${lane}: ${Math.round(delayMs)} ms`);
    if (!(delayMs >= 0 && delayMs <= longestTimerMs)) context.fail("I8", `a timer is set to ${delayMs} ms`);
    if (lane === "watch" && delayMs > reopen.capMs) context.fail("I8", `a stream is opened again after ${delayMs} ms`);
    const isRetry = lane === "holder" && this.#holder.current === undefined && delayMs !== dialTimeoutMs;
    if (isRetry) this.#onRetry(delayMs);
  }

  #onRetry(delayMs: number): void {
    const { clock } = this.#context;
    const isStable = this.#upSince !== undefined && clock.now() - this.#upSince >= redial.stableMs;
    if (isStable) this.#longestMs = redial.baseMs;
    this.#upSince = undefined;
    if (delayMs > this.#longestMs || delayMs < this.#longestMs / 2) {
      this.#context.fail("I8", `the next dial is in ${delayMs} ms, which should be up to ${this.#longestMs} ms`);
    }
    this.#longestMs = Math.min(redial.capMs, this.#longestMs * 2);
  }
}
