import type { RpcAnswer } from "../../mcp/protocol.ts";
import { toRpcError, rpcCodes } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import type { Caller } from "../../catalog/caller.ts";
import type { Clock } from "../../spine/clock.ts";
import type { HttpReply } from "../message.ts";
import type { Responder } from "../respond.ts";
import { eventStreamHeaders } from "../sse.ts";
import type { EventStream } from "./event-stream.ts";

/** What a request that came by POST is answered with. */
export interface PostedSetting {
  readonly id: RequestId;
  readonly reply: HttpReply;
  readonly caller: Caller;
  readonly responder: Responder;
  readonly clock: Clock;
  /** Sent with every answer: the id of the session. */
  readonly headers: Readonly<Record<string, string>>;
  /** Makes a stream; `undefined` where the request is to be answered in one piece. */
  readonly openStream: ((posted: PostedRequest) => EventStream) | undefined;
  /** Keeps a message of a stream, and sends it. */
  readonly append: (stream: EventStream, json: string, isResult: boolean) => void;
  /** After how long without a word the stream is opened, in milliseconds; 0: never. */
  readonly keepAliveMs: number;
  /** Told when the client is gone before it was answered. */
  readonly onGone: () => void;
}

const ended = toRpcError(rpcCodes.sessionNotFound, "Session not found");

/**
 * One request and its answer: JSON in one piece, or a stream of events from the first word on. A stream goes on when its
 * connection is gone: what is said is kept for who resumes it.
 */
export class PostedRequest {
  readonly #setting: PostedSetting;
  #stream: EventStream | undefined;
  #stopTimer: (() => void) | undefined;
  #isGone = false;

  constructor(setting: PostedSetting) {
    this.#setting = setting;
    const { reply, onGone, openStream, clock, keepAliveMs } = setting;
    reply.onGone = () => {
      this.#isGone = true;
      onGone();
    };
    if (openStream === undefined || keepAliveMs === 0) return;
    this.#stopTimer = clock.after(keepAliveMs, () => void this.#open());
  }

  /** Whether it can say more than its answer. */
  get canTell(): boolean {
    return this.#setting.openStream !== undefined;
  }

  /** Whether what is told now would pile up, or be told to nobody. */
  get isFull(): boolean {
    return this.#stream === undefined ? this.#isGone : this.#stream.isFull;
  }

  /** Sends a notice on its stream, which it opens. */
  tell(json: string): void {
    const stream = this.#open();
    if (stream !== undefined) this.#setting.append(stream, json, false);
  }

  /** Answers. Once. */
  answer(answer: RpcAnswer): void {
    const { responder, id } = this.#setting;
    const stream = answer.kind === "result" ? this.#open() : this.#stream;
    this.#stopTimer?.();
    if (stream === undefined) this.#answerPlain(answer);
    else this.#setting.append(stream, responder.render(id, answer, "legacy"), true);
  }

  /** Ends without an answer: its client has cancelled it. */
  cancelled(): void {
    this.#stopTimer?.();
    if (this.#stream === undefined) this.#setting.reply.answer({ status: 202, headers: this.#setting.headers });
    else this.#finish(this.#stream);
  }

  /** Ends because its session does. */
  ended(): void {
    this.#stopTimer?.();
    if (this.#stream !== undefined) this.#finish(this.#stream);
    else this.#setting.responder.refuse(this.#setting.reply, ended, { status: 404, id: this.#setting.id });
  }

  #answerPlain(answer: RpcAnswer): void {
    const { responder, reply, id, headers } = this.#setting;
    responder.answer(reply, answer, { id, era: "legacy", headers });
  }

  #finish(stream: EventStream): void {
    stream.kept.isFinished = true;
    stream.close();
  }

  #open(): EventStream | undefined {
    const { openStream, reply, headers, caller } = this.#setting;
    if (this.#stream !== undefined || openStream === undefined || this.#isGone) return this.#stream;
    this.#stopTimer?.();
    const stream = openStream(this);
    this.#stream = stream;
    const sink = reply.stream({ ...eventStreamHeaders, ...headers });
    reply.onGone = () => {
      stream.lost(sink);
      this.#setting.onGone();
    };
    stream.attach({ sink, after: undefined, caller, onLeft: () => {} });
    return stream;
  }
}
