import type { Caller } from "../../surface/caller.ts";
import { toInternalAnswer } from "../../mcp/methods.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import type { RpcAnswer } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import { Listens } from "../../mcp/subscriptions/listens.ts";
import { Outbox } from "../../mcp/subscriptions/outbox.ts";
import { atExpiry } from "../at-expiry.ts";
import type { EventSink, HttpReply } from "../message.ts";
import type { HttpSetting } from "../setting.ts";
import { eventStreamHeaders, toEvent } from "../sse.ts";
import { StallTimer } from "../stall-timer.ts";

/** What a subscription is made of. */
export interface ListenParts {
  /** The id of the request that opens it. */
  readonly id: RequestId;
  readonly reply: HttpReply;
  readonly caller: Caller;
  readonly setting: HttpSetting;
  /** Told once, when nothing is watched for it any more. */
  readonly onOver: () => void;
}

/**
 * One subscription, and the stream that it is told on: the acknowledgement first, then what changes, its result last. While
 * the stream is full one bit is kept for each topic; one that stays full is dropped. It lasts as long as the caller is who
 * they are.
 */
export class ListenStream {
  readonly #parts: ListenParts;
  readonly #outbox = new Outbox();
  readonly #listens: Listens;
  readonly #stall: StallTimer;
  #stopExpiry: (() => void) | undefined;
  #sink: EventSink | undefined;
  #isOver = false;

  constructor(parts: ListenParts) {
    this.#parts = parts;
    const { runtime, clock, bounds, counters } = parts.setting;
    const send = (json: string): void => this.#write(json);
    const { reached } = counters;
    this.#listens = new Listens({ runtime, clock, reached, outbox: this.#outbox, send }, (_id, answer) =>
      this.#complete(answer),
    );
    this.#stall = new StallTimer(clock, bounds.stallMs, () => this.#drop());
  }

  /** Opens it, or answers why not. Of the frame nothing is kept. */
  open(frame: RequestFrame): void {
    const { id, reply, caller, setting } = this.#parts;
    reply.onGone = () => this.#leave();
    const refusal = this.#subscribe(frame);
    if (refusal !== undefined) {
      this.#leave();
      return setting.responder.answer(reply, refusal, { id, era: "modern" });
    }
    // Its client may have left, or its caller's time be over, with the first that it was told.
    if (this.#isOver) return;
    this.#open();
    this.#stopExpiry = atExpiry(setting.clock, caller, () => this.end());
  }

  /** Ends it with its result, behind which nothing comes. Callable twice. */
  end(): void {
    if (!this.#isOver) this.#listens.close();
  }

  #subscribe(frame: RequestFrame): RpcAnswer | undefined {
    const { caller, setting } = this.#parts;
    try {
      return this.#listens.open(frame, caller);
    } catch (cause) {
      return toInternalAnswer(cause, frame.method, setting.runtime.report);
    }
  }

  #open(): EventSink {
    if (this.#sink !== undefined) return this.#sink;
    const { reply, setting } = this.#parts;
    const sink = reply.stream(eventStreamHeaders);
    this.#sink = sink;
    sink.onDrain = () => this.#onDrain();
    setting.keepAlive.join(sink);
    return sink;
  }

  #write(json: string): void {
    if (this.#isOver) return;
    const sink = this.#open();
    sink.write(toEvent(json));
    if (!sink.isFull) return;
    this.#outbox.hold();
    this.#stall.update(true);
  }

  #onDrain(): void {
    this.#stall.update(false);
    if (!this.#isOver) this.#outbox.release();
  }

  #complete(answer: RpcAnswer): void {
    if (this.#isOver) return;
    const { id, setting } = this.#parts;
    this.#write(setting.responder.render(id, answer, "modern"));
    const sink = this.#open();
    this.#over();
    sink.end();
  }

  /** Its client is gone, or does not read: nobody is told that it is over. */
  #leave(): void {
    if (this.#isOver) return;
    this.#over();
    this.#stall.close();
    this.#listens.cancel(this.#parts.id);
  }

  #drop(): void {
    this.#leave();
    this.#sink?.destroy();
  }

  #over(): void {
    this.#isOver = true;
    this.#stopExpiry?.();
    const { setting, onOver } = this.#parts;
    if (this.#sink !== undefined) setting.keepAlive.leave(this.#sink);
    onOver();
  }
}
