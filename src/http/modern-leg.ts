import { Dispatcher, type ClientRequest } from "../mcp/dispatcher.ts";
import { progressTokenOf } from "../mcp/envelope.ts";
import { closing, rpcCodes, toRpcError } from "../mcp/protocol.ts";
import { isRequest, type Leg, type ModernPost, type RequestPost } from "./leg.ts";
import { Exchange, type ExchangeDeps } from "./modern/exchange.ts";
import { ListenStreams } from "./modern/listen-streams.ts";
import type { HttpSetting } from "./setting.ts";

const nothingAsked = toRpcError(rpcCodes.invalidRequest, "Invalid request: this server has asked nothing");
const unreadable = toRpcError(rpcCodes.invalidRequest, 'Invalid request: "Accept" must allow "text/event-stream"');

/** Serves clients of the modern era. Each request stands alone. */
class ModernLeg implements Leg<ModernPost> {
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

  post(post: ModernPost): void {
    const { frame, reply } = post;
    const { responder } = this.#http;
    if (isRequest(post)) return this.#onRequest(post);
    if (frame.kind === "response") return responder.refuse(reply, nothingAsked, { status: 400 });
    // A client of this era cancels by closing the connection, and notifies of nothing else.
    reply.answer({ status: 202 });
  }

  get dropped(): number {
    return this.#dropped;
  }

  drain(): Promise<void> {
    this.#isClosing = true;
    this.#listens.end();
    return this.#dispatcher.quiet();
  }

  close(): Promise<void> {
    this.#dispatcher.close();
    return this.drain();
  }

  idle(): Promise<void> {
    return new Promise((resolve) => this.#dispatcher.whenIdle(resolve));
  }

  get running(): readonly ClientRequest[] {
    return this.#dispatcher.running;
  }

  #onRequest(post: ModernPost & RequestPost): void {
    const { frame, reply, view } = post;
    const { responder, counters } = this.#http;
    const answered = { id: frame.id, era: "modern" } as const;
    if (this.#isClosing) return responder.answer(reply, closing, answered);
    counters.reached("caps");
    if (view.kind === "error") return responder.answer(reply, view, answered);
    const token = progressTokenOf(frame.params);
    if (typeof token === "object") return responder.answer(reply, token, { ...answered, status: 400 });
    // The client left while the body was read.
    if (reply.isOver) return;
    const exchange = new Exchange(this.#exchanges, (this.#count += 1), { ...post, view });
    if (frame.method === "subscriptions/listen" && !exchange.isStreamable) {
      return responder.answer(reply, unreadable, { ...answered, status: 406 });
    }
    this.#dispatcher.serve(exchange);
  }
}

/** Creates what serves clients of the modern era. Its maker closes it. */
export function createModernLeg(setting: HttpSetting): Leg<ModernPost> {
  return new ModernLeg(setting);
}
