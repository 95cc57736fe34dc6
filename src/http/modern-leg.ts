import { Dispatcher } from "../mcp/dispatcher.ts";
import type { ClientRequest } from "../mcp/running-request.ts";
import { closing, rpcCodes, toRpcError } from "../mcp/protocol.ts";
import type { ModernPost } from "./leg.ts";
import { Exchange, type ExchangeDeps } from "./modern/exchange.ts";
import { ListenStreams } from "./modern/listen-streams.ts";
import type { HttpSetting } from "./setting.ts";

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
    this.#dispatcher.close();
    return this.drain();
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
