import { CallContext } from "../call/call-context.ts";
import type { LogLevel } from "../catalog/entry.ts";
import { ClientRequest } from "../mcp/dispatcher.ts";
import { logLevelOf } from "../mcp/envelope.ts";
import { toLogSink, toProgressSink } from "../mcp/notifications.ts";
import { progressTokenOf, type RpcAnswer } from "../mcp/protocol.ts";
import type { HeldBytes } from "./body.ts";
import { acceptsType } from "./check-head.ts";
import type { AdmittedPost, EventSink, HttpReply } from "./message.ts";
import type { HttpSetting } from "./setting.ts";
import { eventStreamHeaders, keepAliveComment, toEvent, StallTimer } from "./sse.ts";

/** What all exchanges of a server share. */
export interface ExchangeDeps {
  readonly http: HttpSetting;
  /** Counts a message that is thrown away because its client does not read. */
  readonly dropped: () => void;
  /** Called when the client left before the answer. */
  readonly left: (exchange: Exchange) => void;
}

/** {@link Exchange} drops messages itself, and counts them. */
const isFull = (): boolean => false;

/**
 * One request of the modern era and its answer, as JSON or as a stream of events. Each stands alone: nothing is found by the id
 * that its client chose. Nothing is written after the answer.
 */
export class Exchange extends ClientRequest {
  readonly version = undefined;
  readonly log = undefined;
  readonly token: ReturnType<typeof progressTokenOf>;
  /** Whether the client reads streams. */
  readonly isStreamable: boolean;
  /** Called when the client reads again. */
  onDrain: (() => void) | undefined;
  readonly #deps: ExchangeDeps;
  readonly #reply: HttpReply;
  #bytes: HeldBytes | undefined;
  /** From which level on the client reads the log of the call. */
  readonly #logLevel: LogLevel | undefined;
  /**
   * `json`: one piece. `either`: a stream if there is a message before the answer. `stream`: a result is always a stream, which is
   * kept alive; an error before any message is one piece.
   */
  readonly #answering: "json" | "either" | "stream";
  /** Created with the stream. */
  #stall: StallTimer | undefined;
  #sink: EventSink | undefined;
  #stopQuietTimer: (() => void) | undefined;
  #isOver = false;

  constructor(deps: ExchangeDeps, key: number, post: AdmittedPost) {
    const { request, reply, frame } = post;
    super(post, "modern", key);
    this.#deps = deps;
    this.#reply = reply;
    this.#bytes = post.bytes;
    this.isStreamable = acceptsType(request.header("accept"), "text/event-stream");
    this.token = progressTokenOf(frame.params);
    const isReporting = this.isStreamable && this.token !== undefined && typeof this.token !== "object";
    this.#logLevel = this.isStreamable ? logLevelOf(frame.params) : undefined;
    // A client that asks for the log only gets it while the call runs; without messages its answer is one piece.
    this.#answering = isReporting ? "stream" : this.#logLevel === undefined ? "json" : "either";
    const onGone = (): void => this.#leave();
    reply.onGone = onGone;
    const { clock, bounds } = deps.http;
    if (!isReporting || bounds.keepAliveMs === 0) return;
    this.#stopQuietTimer = clock.after(bounds.keepAliveMs, () => this.#stream().write(keepAliveComment));
  }

  override get isUnread(): boolean {
    return (this.#reply.heldBytes ?? 0) > 0;
  }

  open(token: string | number | undefined): CallContext {
    const { http } = this.#deps;
    const { runtime, counters, limiter } = http;
    const isReporting = token !== undefined && this.isStreamable;
    const level = runtime.logs ? this.#logLevel : undefined;
    const output = { send: (json: string) => this.#tell(json), isFull };
    return new CallContext({
      sink: isReporting ? toProgressSink(token, output) : undefined,
      log: level && toLogSink(level, output),
      caller: this.caller,
      reached: counters.reached,
      limiter,
    });
  }

  /** Opens the stream, and keeps nothing of the params, which may be large: a subscription stays open for long. */
  listen(): void {
    const { kind, id, method } = this.frame;
    this.frame = { kind, id, method, params: undefined };
    this.released();
    this.#stream();
  }

  override held(): void {
    this.#bytes?.hold();
  }

  override released(): void {
    this.#bytes?.release();
    this.#bytes = undefined;
  }

  /** Writes a message on the stream. Returns whether the client is behind. */
  write(json: string): boolean {
    if (this.#isOver) return false;
    const sink = this.#stream();
    sink.write(toEvent(json));
    this.#stall?.update(sink.isFull);
    return sink.isFull;
  }

  answer(answer: RpcAnswer): void {
    if (this.#isOver) return;
    const { responder } = this.#deps.http;
    const { id } = this.frame;
    if (this.#sink === undefined && (this.#answering !== "stream" || answer.kind === "error")) {
      responder.answer(this.#reply, answer, { id, era: "modern" });
      this.#end();
      return;
    }
    // While the client does not read it, the stall timer runs.
    this.write(responder.render(id, answer, "modern"));
    this.#end();
    this.#sink?.end();
  }

  /** Opens the stream, if it is not open. */
  #stream(): EventSink {
    if (this.#sink !== undefined) return this.#sink;
    this.#stopQuietTimer?.();
    const { clock, bounds, keepAlive } = this.#deps.http;
    const sink = this.#reply.stream(eventStreamHeaders);
    const stall = new StallTimer(clock, bounds.stallMs, () => this.#onStalled());
    this.#sink = sink;
    this.#stall = stall;
    const onDrain = (): void => {
      stall.update(false);
      this.onDrain?.();
    };
    sink.onDrain = onDrain;
    keepAlive.join(sink);
    return sink;
  }

  /** Writes a message before the answer. Drops it, and counts that, if the client does not read. */
  #tell(json: string): void {
    if (this.#isOver) return;
    if (this.#sink?.isFull === true) this.#deps.dropped();
    else this.write(json);
  }

  /** Returns whether the exchange was open. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#stopQuietTimer?.();
    if (this.#sink !== undefined) this.#deps.http.keepAlive.leave(this.#sink);
    return true;
  }

  #onStalled(): void {
    this.#sink?.destroy();
    this.#leave();
  }

  #leave(): void {
    this.#stall?.close();
    // A client that leaves after the answer cancels nothing.
    if (this.#end()) this.#deps.left(this);
  }
}
