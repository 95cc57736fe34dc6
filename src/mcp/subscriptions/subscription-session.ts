import { anonymous, type Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import { internalError } from "../../surface/fault.ts";
import type { ClientRequest } from "../dispatcher.ts";
import type { RequestId, RpcAnswer } from "../protocol.ts";
import type { AppRuntime } from "../servable-app.ts";
import { Listens } from "./listens.ts";
import { SubscribedUris } from "./subscribed-uris.ts";
import { Outbox, type WatchDeps } from "./topic-watch.ts";

/** Dependencies of a {@link SubscriptionSession}. */
export interface SubscriptionDeps extends Omit<WatchDeps, "outbox"> {
  readonly runtime: Pick<AppRuntime, "resources" | "changing" | "report">;
  /** Milliseconds that the output may stay full until all watches stop. */
  readonly stallMs: number;
  /** Called when all watches have stopped, with the number of URIs. @default reports a fault */
  readonly onStalled?: (watches: number) => void;
}

/**
 * The subscriptions of one client over one output: of URIs and lists up to 2025-11-25, and `subscriptions/listen` from 2026-07-28 on.
 * Announces changes at once. While the output is full it keeps one bit for each topic; when it stays full, all watches stop. Call
 * {@link close} when done.
 */
export class SubscriptionSession {
  readonly #deps: SubscriptionDeps;
  /** Made with the first subscription: most sessions have none. */
  #watchDeps: WatchDeps | undefined;
  #legacy: SubscribedUris | undefined;
  #modern: Listens | undefined;
  #fullAt: number | undefined;
  /** The output stayed full: all watches wait until it is not. */
  #isStalled = false;
  #stopStallTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: SubscriptionDeps) {
    this.#deps = deps;
  }

  /** Serves a request, now or later. Returns `false` if it is not about subscriptions in this era. */
  serve({ frame, era, caller }: Pick<ClientRequest, "frame" | "era" | "caller">): boolean {
    if (this.#isClosed) return false;
    const { method, id } = frame;
    let answer: RpcAnswer | undefined;
    if (era === "modern") {
      if (method !== "subscriptions/listen") return false;
      answer = this.#ofModern().open(frame, caller);
    } else if (method === "resources/subscribe") answer = this.#ofLegacy().subscribe(frame, caller);
    else if (method === "resources/unsubscribe") answer = this.#ofLegacy().unsubscribe(frame);
    else return false;
    if (answer !== undefined) this.#deps.answer(id, answer, era);
    return true;
  }

  /** Notes that the handshake up to 2025-11-25 is complete: the client hears of lists from here on. Callable twice. */
  initialised(caller: Caller = anonymous): void {
    if (!this.#isClosed && this.#deps.runtime.changing.size > 0) this.#ofLegacy().watchLists(caller);
  }

  /** Watches the lists as another caller sees them, who turned out to be the client after {@link initialised}. */
  recognised(caller: Caller): void {
    this.#legacy?.unwatchLists();
    this.initialised(caller);
  }

  /** Watches a URI for a client up to 2025-11-25 that subscribed to it on another replica, and announces it once. Idempotent. */
  restore(uri: string, caller: Caller): void {
    if (!this.#isClosed) this.#ofLegacy().restore(uri, caller);
  }

  /** Ends the watch of a URI that the client has unsubscribed from on another replica. */
  forget(uri: string): void {
    this.#legacy?.forget(uri);
  }

  /** Ends a subscription that the client cancelled: nothing is written for it any more. */
  cancel(id: RequestId): void {
    this.#modern?.cancel(id);
    this.#legacy?.cancel(id);
  }

  /** Announces one change of everything that is subscribed to: the client has missed notices. */
  announce(): void {
    if (!this.#isClosed) this.#legacy?.announce();
  }

  setOutputFull(isFull: boolean): void {
    if (isFull === (this.#fullAt !== undefined) || this.#isClosed) return;
    this.#fullAt = isFull ? this.#deps.clock.now() : undefined;
    if (isFull) return this.#hold();
    this.#endStall();
    this.#resume();
    // The notices of resumed watches may have filled the output again.
    if (this.#fullAt === undefined) this.#watchDeps?.outbox.release();
  }

  /** Stops all watches, and tells each open subscription that it has ended. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endStall();
    this.#watchDeps?.outbox.hold();
    this.#legacy?.close();
    this.#modern?.close();
  }

  #ofLegacy(): SubscribedUris {
    return (this.#legacy ??= new SubscribedUris(this.#shared(), this.#isStalled));
  }

  #ofModern(): Listens {
    return (this.#modern ??= new Listens(this.#shared(), this.#isStalled));
  }

  #shared(): WatchDeps {
    if (this.#watchDeps !== undefined) return this.#watchDeps;
    this.#watchDeps = { ...this.#deps, outbox: new Outbox() };
    this.#hold();
    return this.#watchDeps;
  }

  /** Keeps notices while the output is full. Without a subscription there are no notices, and no timer. */
  #hold(): void {
    if (this.#watchDeps === undefined || this.#fullAt === undefined) return;
    this.#watchDeps.outbox.hold();
    const { clock, stallMs } = this.#deps;
    const leftMs = this.#fullAt + stallMs - clock.now();
    if (leftMs <= 0) this.#isStalled = true;
    else this.#stopStallTimer = clock.after(leftMs, () => this.#onStalled());
  }

  #endStall(): void {
    this.#stopStallTimer?.();
    this.#stopStallTimer = undefined;
  }

  #onStalled(): void {
    this.#isStalled = true;
    const count = (this.#legacy?.uriCount ?? 0) + (this.#modern?.uriCount ?? 0);
    this.#legacy?.suspend();
    this.#modern?.suspend();
    const { stallMs, runtime, onStalled } = this.#deps;
    if (onStalled !== undefined) return onStalled(count);
    if (count === 0) return;
    const cause = new SurfaceError(
      "TIMEOUT",
      `Announcing changes: nothing was read for ${stallMs} ms; watches that were stopped: ${count}`,
    );
    void internalError(cause, "a connection whose client does not read", runtime.report);
  }

  #resume(): void {
    if (!this.#isStalled) return;
    this.#isStalled = false;
    this.#legacy?.resume();
    this.#modern?.resume();
  }
}
