import { setImmediate } from "node:timers";
import type { CloseReason, ConnectionState } from "./link.ts";

const open: ConnectionState = Object.freeze({ kind: "open" });
const leaving: ConnectionState = Object.freeze({ kind: "leaving" });

/** The end of a connection: its state, which is known at once, and the promises that tell of it. */
export class Ending {
  #state: ConnectionState = open;
  #resolveLeaving: () => void = () => {};
  #resolveClosed: (reason: CloseReason) => void = () => {};
  readonly leaving: Promise<void> = new Promise((resolve) => (this.#resolveLeaving = resolve));
  readonly closed: Promise<CloseReason> = new Promise((resolve) => (this.#resolveClosed = resolve));

  /** Returns the state. A field, so that connections may hand it out. */
  readonly state = (): ConnectionState => this.#state;

  /** The far side is going. Does nothing afterwards. */
  leave(): void {
    if (this.#state !== open) return;
    this.#state = leaving;
    this.#resolveLeaving();
  }

  /**
   * Ends the connection. The first reason counts. `closed` resolves in the next turn: an answer that came just before the end
   * reaches its caller first, and the call is not taken for one that the end cut off.
   *
   * @param settle - settles what is under way, after the state has changed.
   */
  end(reason: CloseReason, settle?: () => void): void {
    if (this.#state.kind === "ended") return;
    this.#state = { kind: "ended", reason };
    settle?.();
    setImmediate(() => this.#resolveClosed(reason));
  }
}
