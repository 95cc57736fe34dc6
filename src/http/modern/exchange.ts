import type { RpcAnswer } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import type { EventSink, HttpReply } from "../message.ts";
import type { HttpSetting } from "../setting.ts";
import { eventStreamHeaders, keepAliveComment, toEvent } from "../sse.ts";
import { StallTimer } from "../stall-timer.ts";

/** How an exchange may be answered. */
export type Answering = "json" | "either" | "stream";

/** What an exchange is made of. */
export interface ExchangeParts {
  readonly id: RequestId;
  readonly reply: HttpReply;
  readonly setting: Pick<HttpSetting, "responder" | "keepAlive" | "clock" | "bounds">;
  /**
   * `json`: in one piece, whatever is told meanwhile. `either`: as a stream where something is told before the answer.
   * `stream`: a result is always one, and a quiet one is kept alive; an error before anything was told is not.
   */
  readonly answering: Answering;
  /** Told of each message that is thrown away since its client does not read. */
  readonly dropped?: () => void;
  /** Told when nobody is there any more to be answered. */
  readonly abandon: () => void;
}

/**
 * One request of the modern era on its way to its answer: in one piece or as a stream of events. It stands alone: nothing of
 * it is found by the id that its client gave it. Nothing is written after the answer.
 */
export class Exchange {
  readonly #parts: ExchangeParts;
  /** Made with the stream. */
  #stall: StallTimer | undefined;
  #sink: EventSink | undefined;
  #stopQuietTimer: (() => void) | undefined;
  #isOver = false;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    const { reply, setting, answering } = parts;
    const { clock, bounds } = setting;
    reply.onGone = () => this.#leave();
    if (answering === "stream" && bounds.keepAliveMs > 0) {
      this.#stopQuietTimer = clock.after(bounds.keepAliveMs, () => this.#open().write(keepAliveComment));
    }
  }

  /** Tells something under way, as JSON text. Dropped, and counted, where the client does not read. */
  readonly tell = (json: string): void => {
    if (this.#isOver || this.isFull()) return;
    if (this.#sink?.isFull === true) return this.#parts.dropped?.();
    const sink = this.#open();
    sink.write(toEvent(json));
    this.#stall?.update(sink.isFull);
  };

  /** Whether nothing is told, since its client is to be answered in one piece. */
  readonly isFull = (): boolean => this.#parts.answering === "json";

  /** Answers. Does nothing when it is over. */
  answer(answer: RpcAnswer, status?: number): void {
    const { id, reply, setting, answering } = this.#parts;
    const { responder } = setting;
    const isStream = this.#sink !== undefined || (answering === "stream" && answer.kind === "result");
    if (isStream) return this.answerText(responder.render(id, answer, "modern"));
    if (!this.#end()) return;
    responder.answer(reply, answer, { id, era: "modern", ...(status === undefined ? {} : { status }) });
  }

  /** Answers with a result that is written already, as the text of one message. */
  answerText(json: string): void {
    const { reply, setting, answering } = this.#parts;
    if (this.#sink === undefined && answering !== "stream") {
      if (this.#end()) setting.responder.answerText(reply, json);
      return;
    }
    if (this.#isOver) return;
    const sink = this.#open();
    this.#end();
    sink.write(toEvent(json));
    // Complete as far as it is ours; that it is read is watched for as long as it is not.
    this.#stall?.update(sink.isFull);
    sink.end();
  }

  /** Ends it. Says whether it was still open. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#stopQuietTimer?.();
    if (this.#sink !== undefined) this.#parts.setting.keepAlive.leave(this.#sink);
    return true;
  }

  #open(): EventSink {
    if (this.#sink !== undefined) return this.#sink;
    this.#stopQuietTimer?.();
    const { reply, setting } = this.#parts;
    const sink = reply.stream(eventStreamHeaders);
    const stall = new StallTimer(setting.clock, setting.bounds.stallMs, () => this.#onStalled());
    this.#sink = sink;
    this.#stall = stall;
    sink.onDrain = () => stall.update(false);
    setting.keepAlive.join(sink);
    return sink;
  }

  #onStalled(): void {
    this.#sink?.destroy();
    this.#leave();
  }

  #leave(): void {
    this.#stall?.close();
    // What goes away after the answer has nothing to take back.
    if (this.#end()) this.#parts.abandon();
  }
}
