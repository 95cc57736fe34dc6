import { anonymous, type Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { internalError } from "../../surface/fault.ts";
import type { ClientRequest } from "../dispatcher.ts";
import type { RequestFrame } from "../parse-frame.ts";
import type { Era, RequestId, RpcAnswer } from "../protocol.ts";
import type { AppRuntime } from "../servable-app.ts";
import { Listens } from "./listens.ts";
import { Outbox } from "./outbox.ts";
import { SubscribedUris } from "./subscribed-uris.ts";
import type { WatchSetting } from "./watch-setting.ts";

/** What a session is made of. */
export interface SubscriptionSetting {
  readonly runtime: Pick<AppRuntime, "resourcesFor" | "lacking" | "changing" | "report">;
  /** Writes one frame to the client. */
  readonly send: (json: string) => void;
  /** Answers one of the requests that were served here. */
  readonly answer: (id: RequestId, answer: RpcAnswer, era: Era) => void;
  readonly clock: Clock;
  /** How long the output may stay full until nothing is watched for it any more, in milliseconds. */
  readonly stallMs: number;
  /** Told when nothing is watched any more, and how many URIs were. Left out: it is reported as a fault. */
  readonly onStalled?: (watches: number) => void;
  /** Told when what a request names is looked up. */
  readonly reached?: WatchSetting["reached"];
}

type Serve = (frame: RequestFrame, caller: Caller) => RpcAnswer | undefined;

/**
 * What one client watches, over one output: subscribed URIs of the legacy era, subscriptions of the modern one. Changes
 * are announced at once; while the output is full, one bit is kept for each subscription and URI, and when it stays full
 * nothing is watched any more. Whoever made it closes it.
 */
export class SubscriptionSession {
  readonly #setting: SubscriptionSetting;
  readonly #outbox = new Outbox();
  /** Made when somebody asks for it first: of many sessions, most watch nothing. */
  #legacy: SubscribedUris | undefined;
  #modern: Listens | undefined;
  #isFull = false;
  /** The output stayed full, and nothing is watched until it is not. */
  #isStalled = false;
  #stopStallTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(setting: SubscriptionSetting) {
    this.#setting = setting;
  }

  /** Whether a request of this id is under way here: a subscription that is open, or one that is yet to be answered. */
  has(id: RequestId): boolean {
    return this.#modern?.has(id) === true || this.#legacy?.has(id) === true;
  }

  /**
   * Serves a request about subscriptions, now or later, and watches for its caller. Returns `false` for a method that its era
   * does not have.
   */
  serve({ frame, era, caller }: Pick<ClientRequest, "frame" | "era" | "caller">): boolean {
    const serve = this.#methodOf(frame.method, era);
    if (serve === undefined || this.#isClosed) return false;
    const answer = serve(frame, caller);
    if (answer !== undefined) this.#setting.answer(frame.id, answer, era);
    return true;
  }

  /** The legacy handshake is complete: from here on its client hears of lists. Callable twice. */
  initialised(caller: Caller = anonymous): void {
    if (!this.#isClosed) this.#ofLegacy().watchLists(caller);
  }

  /** Watches the lists as another caller sees them, who turned out to be the client after {@link initialised}. */
  recognised(caller: Caller): void {
    this.#legacy?.unwatchLists();
    this.initialised(caller);
  }

  /** Ends what its client cancelled: nothing is written for it any more. */
  cancel(id: RequestId): void {
    this.#modern?.cancel(id);
    this.#legacy?.cancel(id);
  }

  /** Announces one change of everything that is subscribed to: its client has missed something, and nobody knows what. */
  announce(): void {
    if (!this.#isClosed) this.#legacy?.announce();
  }

  /** Says whether what is written piles up unread. */
  setOutputFull(full: boolean): void {
    if (full === this.#isFull || this.#isClosed) return;
    this.#isFull = full;
    this.#stopStallTimer?.();
    this.#stopStallTimer = undefined;
    if (full) {
      this.#outbox.hold();
      this.#stopStallTimer = this.#setting.clock.after(this.#setting.stallMs, () => this.#onStalled());
    } else {
      this.#resume();
      // What makes up for it may have filled the output again.
      if (!this.#isFull) this.#outbox.release();
    }
  }

  /** Stops everything that is watched, and tells each open subscription that it has ended. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopStallTimer?.();
    this.#outbox.hold();
    this.#legacy?.close();
    this.#modern?.close();
  }

  #methodOf(method: string, era: Era): Serve | undefined {
    if (era === "modern") {
      return method === "subscriptions/listen" ? (frame, caller) => this.#ofModern().open(frame, caller) : undefined;
    }
    if (method === "resources/subscribe") return (frame, caller) => this.#ofLegacy().subscribe(frame, caller);
    if (method === "resources/unsubscribe") return (frame) => this.#ofLegacy().unsubscribe(frame);
    return undefined;
  }

  #ofLegacy(): SubscribedUris {
    this.#legacy ??= new SubscribedUris(this.#toWatches(), (id, late) => this.#setting.answer(id, late, "legacy"));
    return this.#legacy;
  }

  #ofModern(): Listens {
    this.#modern ??= new Listens(this.#toWatches(), (id, end) => this.#setting.answer(id, end, "modern"));
    return this.#modern;
  }

  #toWatches(): WatchSetting {
    const { runtime, send, clock, reached } = this.#setting;
    return { runtime, send, clock, reached, outbox: this.#outbox };
  }

  #onStalled(): void {
    this.#isStalled = true;
    // Made now where nothing was asked for yet, so that what is asked for while it is stalled waits as well.
    const [legacy, modern] = [this.#ofLegacy(), this.#ofModern()];
    const count = legacy.uriCount + modern.uriCount;
    legacy.suspend();
    modern.suspend();
    const { stallMs, runtime, onStalled } = this.#setting;
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
