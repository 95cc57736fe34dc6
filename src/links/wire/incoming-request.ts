import type { WirePeer } from "./wire-peer.ts";

/** A request of the far side that is not answered yet. Its signal is made only if something asks for it. */
export class IncomingRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
  /** Characters of its message. */
  readonly size: number;
  readonly #peer: WirePeer;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(peer: WirePeer, message: Pick<IncomingRequest, "id" | "method" | "params" | "size">) {
    this.#peer = peer;
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.size = message.size;
  }

  /** Fires when the far side cancels the request, or has gone. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Fires the signal. Callable twice. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  /** Answers the request with a result, or with an `RpcError`. The first answer counts. */
  reply(outcome: unknown): void {
    this.#peer.reply(this, outcome);
  }
}
