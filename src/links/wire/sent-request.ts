import type { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { followSignal } from "../../spine/follow-signal.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import { CancelToken } from "./cancel-token.ts";
import type { WirePeer } from "./wire-peer.ts";

/** What one request is, and who hears of its outcome: one of the three, once. None of them may throw. */
export interface RequestSetting {
  readonly method: string;
  readonly params: JsonObject;
  /** Names it in errors. */
  readonly what: string;
  /** Cancels it. */
  readonly signal: AbortSignal | undefined;
  answered(result: unknown): void;
  /** The far side's error, to be read. */
  refused(error: unknown): void;
  failed(cause: SurfaceError): void;
}

/**
 * One request that was sent. It settles once, by its answer, its caller's signal or the end of the connection, and then
 * holds on to nothing.
 */
export class SentRequest {
  readonly #peer: WirePeer;
  readonly #token = new CancelToken();
  #setting: RequestSetting | undefined;
  #leaveSignal: (() => void) | undefined;
  #onSettled: () => void;

  /** @param onSettled - called before its outcome is told. */
  constructor(peer: WirePeer, setting: RequestSetting, onSettled: (request: SentRequest) => void) {
    this.#peer = peer;
    this.#setting = setting;
    const settled = (): void => onSettled(this);
    this.#onSettled = settled;
  }

  /** Sends it. The peer is open. */
  send(): void {
    const setting = this.#setting;
    if (setting === undefined) return;
    const { method, params, signal } = setting;
    const answered = {
      result: (result: unknown) => this.#settle()?.answered(result),
      error: (error: unknown) => this.#settle()?.refused(error),
      unsent: (cause: SurfaceError) => this.#settle()?.failed(cause),
    };
    this.#peer.request({ method, params, cancel: this.#token, answered });
    if (signal === undefined || this.#setting === undefined) return;
    const leave = followSignal(signal, () => this.cancel(toAborted(signal, `Using ${setting.what}`)));
    if (this.#setting === undefined) leave();
    else this.#leaveSignal = leave;
  }

  /** Ends it on both sides. Does nothing once it has settled. */
  cancel(cause: SurfaceError): void {
    const setting = this.#settle();
    if (setting === undefined) return;
    this.#peer.cancel(this.#token);
    setting.failed(cause);
  }

  /** Ends it on this side. Does nothing once it has settled. */
  lose(cause: SurfaceError): void {
    this.#settle()?.failed(cause);
  }

  #settle(): RequestSetting | undefined {
    const setting = this.#setting;
    if (setting === undefined) return undefined;
    this.#setting = undefined;
    this.#leaveSignal?.();
    this.#leaveSignal = undefined;
    this.#onSettled();
    return setting;
  }
}
