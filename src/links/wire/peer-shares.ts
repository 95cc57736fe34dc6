import type { Share } from "../../spine/budget.ts";
import type { LinkBudgets } from "../link-options.ts";

let created = 0;

/** What one peer holds of the budgets of its listener. Whoever made it closes it. */
export class PeerShares {
  readonly #arguments: Share;
  readonly #unread: Share;
  #isClosed = false;

  /** @param drop - ends the connection at once, to make room for other peers. */
  constructor(budgets: LinkBudgets, drop: () => void) {
    created += 1;
    const key = `peer ${created}`;
    this.#arguments = budgets.argumentBytes.open(key);
    this.#unread = budgets.unreadBytes.open(key, (_excess, what) => {
      if (what === "spare") return;
      drop();
      this.#unread.release();
    });
  }

  /** Counts a request of this size. Returns `false` if there is no room for it, or the peer is gone. */
  admit(size: number): boolean {
    return !this.#isClosed && this.#arguments.take(size) === undefined;
  }

  /** A request of this size was answered. */
  answered(size: number): void {
    this.#arguments.release(size);
  }

  /** Counts what is written and not read at present. Returns `false` if that is too much. */
  weigh(unread: number): boolean {
    // An answer that is written after the end would count for ever.
    if (this.#isClosed) return true;
    const more = unread - this.#unread.amount;
    if (more > 0) return this.#unread.take(more) === undefined;
    this.#unread.resize(unread);
    return true;
  }

  /** Gives everything back. Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#arguments.release();
    this.#unread.release();
  }
}
