import type { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { followSignal, toAborted } from "../../spine/signals.ts";
import type { RpcError } from "./protocol.ts";
import type { OutgoingRequest, WirePeer } from "./wire-peer.ts";

/** What a request consists of. */
export interface RequestFields {
  readonly method: string;
  readonly params: JsonObject;
  /** Names the request in errors. */
  readonly what: string;
  /** Cancels the request. */
  readonly signal: AbortSignal | undefined;
}

/**
 * A request of this side. It settles once, by its answer, the signal of its caller or the end of the connection: exactly one of
 * `answered`, `refused` and `failed` is called. None of them may throw.
 */
export abstract class SentRequest implements OutgoingRequest {
  id = -1;
  readonly method: string;
  readonly params: JsonObject;
  readonly #what: string;
  readonly #signal: AbortSignal | undefined;
  #peer: WirePeer | undefined;
  #leaveSignal: (() => void) | undefined;
  #isSettled = false;

  constructor({ method, params, what, signal }: RequestFields) {
    this.method = method;
    this.params = params;
    this.#what = what;
    this.#signal = signal;
  }

  protected abstract answered(result: unknown): void;
  /** The far side answered with an error. */
  protected abstract refused(error: RpcError): void;
  protected abstract failed(cause: SurfaceError): void;

  /** Sends it over a peer. */
  sendOver(peer: WirePeer): void {
    this.#peer = peer;
    peer.request(this);
    const signal = this.#signal;
    if (signal === undefined || this.#isSettled) return;
    const leave = followSignal(signal, () => this.cancel(toAborted(signal, `Using ${this.#what}`)));
    if (this.#isSettled) leave();
    else this.#leaveSignal = leave;
  }

  /** Ends it on both sides. Does nothing once it has settled. */
  cancel(cause: SurfaceError): void {
    if (!this.#settle()) return;
    this.#peer?.cancel(this);
    this.failed(cause);
  }

  result(result: unknown): void {
    if (this.#settle()) this.answered(result);
  }

  error(error: RpcError): void {
    if (this.#settle()) this.refused(error);
  }

  lose(cause: SurfaceError): void {
    if (this.#settle()) this.failed(cause);
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#leaveSignal?.();
    this.#leaveSignal = undefined;
    return true;
  }
}
