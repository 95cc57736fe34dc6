import { Dispatcher, type ClientRequest } from "../mcp/dispatcher.ts";
import { closing, rpcCodes, toRpcError, type RequestId, type RpcAnswer } from "../mcp/protocol.ts";
import type { ModernPost } from "./message.ts";
import { Exchange, type ExchangeDeps } from "./exchange.ts";
import type { HttpSetting } from "./setting.ts";
import { Listens } from "../mcp/subscriptions/listens.ts";
import { Outbox, type WatchDeps } from "../mcp/subscriptions/topic-watch.ts";
import { isRefused, type Place } from "./admission.ts";
import { atExpiry } from "./at-expiry.ts";

const unreadable = toRpcError(rpcCodes.invalidRequest, 'Invalid request: "Accept" must allow "text/event-stream"');

/** Serves clients of the modern era. Each request stands alone. Call `close()` when done. */
export class ModernLeg {
  readonly #http: HttpSetting;
  readonly #dispatcher: Dispatcher<Exchange>;
  readonly #listens: ListenStreams;
  readonly #exchanges: ExchangeDeps;
  #count = 0;
  #isClosing = false;
  #dropped = 0;

  constructor(http: HttpSetting) {
    const { runtime, admission } = http;
    this.#http = http;
    this.#listens = new ListenStreams(http, (key, answer) => this.#dispatcher.answer(key, answer));
    this.#dispatcher = new Dispatcher<Exchange>({
      runtime,
      subscriptions: this.#listens,
      queueOf: (turn, { caller }) => admission.queueOf(turn, caller),
    });
    this.#exchanges = {
      http,
      dropped: () => (this.#dropped += 1),
      left: ({ key }) => this.#dispatcher.cancel(key),
    };
  }

  request(post: ModernPost): void {
    const { frame, reply, view } = post;
    const { responder, counters } = this.#http;
    const answered = { id: frame.id, era: "modern" } as const;
    if (this.#isClosing) return responder.answer(reply, closing, answered);
    counters.reached("caps");
    if (view.kind === "error") return responder.answer(reply, view, answered);
    // The client left while the body was read.
    if (reply.isOver) return;
    const exchange = new Exchange(this.#exchanges, (this.#count += 1), { ...post, view });
    const { token } = exchange;
    if (typeof token === "object") return responder.answer(reply, token, { ...answered, status: 400 });
    if (frame.method === "subscriptions/listen" && !exchange.isStreamable) {
      return responder.answer(reply, unreadable, { ...answered, status: 406 });
    }
    this.#dispatcher.serve(exchange);
  }

  /** Number of messages that were thrown away unsent. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Ends every subscription with its result and takes nothing new. Resolves when every request has its answer. */
  drain(): Promise<void> {
    this.#isClosing = true;
    this.#listens.end();
    return this.#dispatcher.quiet();
  }

  /** Aborts what runs. Callable twice. */
  close(): Promise<void> {
    // Subscriptions end with their own result.
    const drained = this.drain();
    this.#dispatcher.close();
    return drained;
  }

  /** Resolves when no handler runs. A handler that never settles keeps it from that. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#dispatcher.whenIdle(resolve));
  }

  /** Requests whose handlers run, also after the answer. */
  get running(): readonly ClientRequest[] {
    return this.#dispatcher.running;
  }
}

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
    const answer: WatchDeps["answer"] = (_id, end) => this.#complete(exchange.key, end);
    return new Listens({ runtime, clock, reached: counters.reached, outbox, send, answer });
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
