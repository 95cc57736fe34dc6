import type { Budget, OverBudget, Share } from "../../spine/budget.ts";
import type { BodyBytes } from "../message.ts";

/** The bytes of one request's body: counted as they arrive, for as long as the request waits or runs. */
export class HeldBytes implements BodyBytes {
  /** The bound in the way, once there was no room. */
  refused: OverBudget | undefined;
  readonly #share: Share;
  #onEvicted: (() => void) | undefined;
  #holders = 0;

  /** @param key - whose body it is, as {@link Budget.open} takes it. */
  constructor(budget: Budget, key: string | undefined) {
    // A body that is complete belongs to a request that runs: only one that is still arriving can be given up.
    this.#share = budget.open(key, (_excess, what) => {
      if (what === "spare") return;
      this.#share.release();
      this.#onEvicted?.();
    });
    this.#share.eviction = "never";
  }

  get onEvicted(): (() => void) | undefined {
    return this.#onEvicted;
  }

  set onEvicted(run: (() => void) | undefined) {
    this.#onEvicted = run;
    this.#share.eviction = run === undefined ? "never" : "normal";
  }

  take(bytes: number): boolean {
    this.refused = this.#share.take(bytes);
    // The first bytes make it the last to be evicted, too.
    if (this.#share.amount > bytes) this.#share.touch();
    return this.refused === undefined;
  }

  /** Holds the bytes until {@link release} was called as often. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#share.release();
  }
}
