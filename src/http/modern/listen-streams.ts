import { rpcCodes, toRpcError, type RequestId, type RpcAnswer } from "../../mcp/protocol.ts";
import { Listens } from "../../mcp/subscriptions/listens.ts";
import { Outbox } from "../../mcp/subscriptions/topic-watch.ts";
import { isRefused, type Place } from "../admission.ts";
import { atExpiry } from "../at-expiry.ts";
import type { HttpSetting } from "../setting.ts";
import type { Exchange } from "./exchange.ts";

/** An open subscription. */
interface Open {
  readonly exchange: Exchange;
  readonly listens: Listens;
  readonly place: Place;
  stopExpiry?: () => void;
}

/**
 * The subscriptions of all clients of the modern era, each with the stream of its request: the acknowledgement first, then
 * changes, its result last. While a stream is full, one bit is kept for each topic. A subscription ends with its caller's token.
 */
export class ListenStreams {
  readonly #http: HttpSetting;
  readonly #answer: (key: RequestId, answer: RpcAnswer) => void;
  readonly #open = new Map<RequestId, Open>();

  /** @param answer - answers a request, with which its subscription is over. */
  constructor(http: HttpSetting, answer: (key: RequestId, answer: RpcAnswer) => void) {
    this.#http = http;
    this.#answer = answer;
  }

  /** Serves a request. Returns `false` if it opens no subscription. */
  serve(exchange: Exchange): boolean {
    const { frame, key, caller } = exchange;
    if (frame.method !== "subscriptions/listen") return false;
    const { admission, clock } = this.#http;
    const place = admission.openStream(caller);
    if (isRefused(place)) {
      this.#answer(key, toRpcError(rpcCodes.busy, "Server busy: too many streams are open", place));
      return true;
    }
    const open: Open = { exchange, listens: this.#createListens(exchange), place };
    this.#open.set(key, open);
    const refusal = open.listens.open(frame, caller);
    if (refusal !== undefined) this.#complete(key, refusal);
    // The client may have left, or the token may have expired, during the first message.
    if (!this.#open.has(key)) return true;
    exchange.listen();
    open.stopExpiry = atExpiry(clock, caller, () => open.listens.close());
    return true;
  }

  /** Ends a subscription without its result: the client has left. */
  cancel(key: RequestId): void {
    const open = this.#forget(key);
    open?.listens.cancel(open.exchange.frame.id);
  }

  /** Ends all subscriptions, each with its result. Callable twice. */
  end(): void {
    for (const { listens } of this.#open.values()) listens.close();
  }

  #createListens(exchange: Exchange): Listens {
    const { runtime, clock, counters } = this.#http;
    const outbox = new Outbox();
    const send = (json: string): void => {
      if (exchange.write(json)) outbox.hold();
    };
    const onDrain = (): void => outbox.release();
    exchange.onDrain = onDrain;
    return new Listens({ runtime, clock, reached: counters.reached, outbox, send }, (_id, answer) =>
      this.#complete(exchange.key, answer),
    );
  }

  #complete(key: RequestId, answer: RpcAnswer): void {
    this.#forget(key);
    this.#answer(key, answer);
  }

  #forget(key: RequestId): Open | undefined {
    const open = this.#open.get(key);
    this.#open.delete(key);
    open?.stopExpiry?.();
    open?.place.release();
    return open;
  }
}
