import type { CallContext } from "../../call/call-context.ts";
import type { ClientRequest } from "../../mcp/dispatcher.ts";
import { progressTokenOf } from "../../mcp/envelope.ts";
import type { ResolvedView } from "../../mcp/resolved-view.ts";
import { sessionNotFound, type RpcAnswer } from "../../mcp/protocol.ts";
import type { Caller } from "../../surface/caller.ts";
import type { SendAsk } from "../../mcp/asking/pushed-asks.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import { acceptsType } from "../head/media-type.ts";
import type { AdmittedPost } from "../leg.ts";
import type { EventStream } from "./event-stream.ts";
import type { SessionCalls } from "./session-calls.ts";
import type { SessionStreams } from "./session-streams.ts";

/** How a client names the reports of progress that it wants. */
export type ProgressToken = string | number;

/** What the requests of one session share. */
export interface RequestSession {
  readonly streams: SessionStreams;
  readonly calls: SessionCalls;
  /** The protocol version of the handshake. */
  readonly version: string;
  /** Cancels a request whose client dropped the connection. */
  readonly dropped: (request: PostedRequest) => void;
}

/**
 * One request and its answer: JSON in one piece, or, where its client wants to hear more or is asked something, a stream of
 * events from the first word on. A stream goes on when its connection is gone: what is said is kept for who resumes it.
 */
export class PostedRequest implements ClientRequest {
  readonly era = "legacy";
  readonly post: AdmittedPost;
  /** Left out where nothing but the answer is to be said. */
  readonly token: ProgressToken | undefined;
  readonly #session: RequestSession;
  readonly #streams: SessionStreams;
  readonly #isStreamable: boolean;
  #stream: EventStream | undefined;
  #stopTimer: (() => void) | undefined;
  #isGone: boolean;
  #isOver = false;
  /** Called when the client has gone before the answer. */
  #onGone: (() => void) | undefined;

  constructor(post: AdmittedPost, session: RequestSession) {
    const { request, reply, frame } = post;
    const { streams } = session;
    this.post = post;
    this.#session = session;
    this.#streams = streams;
    this.#isGone = reply.isOver;
    reply.onGone = () => this.#left();
    this.#isStreamable = acceptsType(request.header("accept"), "text/event-stream");
    const token = progressTokenOf(frame.params);
    this.token = this.#isStreamable && typeof token !== "object" ? token : undefined;
    const { keepAliveMs } = streams.http.bounds;
    if (this.token === undefined || keepAliveMs === 0) return;
    // A connection on which nothing is heard is taken for a dead one.
    this.#stopTimer = streams.http.clock.after(keepAliveMs, () => void this.#open());
  }

  get frame(): RequestFrame {
    return this.post.frame;
  }

  get caller(): Caller {
    return this.post.caller;
  }

  get view(): ResolvedView {
    return this.post.view;
  }

  get version(): string {
    return this.#session.version;
  }

  get log(): SessionCalls {
    return this.#session.calls;
  }

  get isUnread(): boolean {
    return (this.post.reply.heldBytes ?? 0) > 0;
  }

  open(): CallContext {
    this.post.bytes?.hold();
    const { calls, dropped } = this.#session;
    const call = calls.open(this);
    this.#onGone = calls.endsOnDrop(this) ? () => dropped(this) : () => call.drop();
    return call;
  }

  released(): void {
    this.post.bytes?.release();
  }

  /** Whether what is told now would be told to nobody. What piles up is kept, as much of it as there is room for. */
  readonly isFull = (): boolean => this.#stream === undefined && this.#isGone;

  /**
   * The call has come as far as to the author's handler: what is refused by a status was let through. Who leaves from here on
   * has an id to resume from, where they understand it, also before the first word. Of tools only: what merely reads can be
   * asked for again, and fails with an answer in one piece.
   */
  begun(): void {
    if (this.#streams.primes && this.post.frame.method === "tools/call") this.#open();
  }

  /** Says something before the answer, on a stream. */
  readonly tell = (json: string): void => {
    const stream = this.#open();
    if (stream !== undefined) this.#streams.append(stream, { json });
  };

  /**
   * Asks its client something: on a stream of its own, also where nothing else is told on it; of who has left before there was
   * one, where what belongs to no request is told. That a question is given up is said there, too, when the request is over.
   */
  readonly ask: SendAsk = (json, onDropped) => {
    const stream = this.#isOver ? undefined : this.#open(this.#isStreamable);
    if (stream === undefined && !this.#isStreamable) this.#streams.tellSoon(json, onDropped);
    else if (stream === undefined) this.#streams.tell(json, onDropped);
    else this.#streams.append(stream, { json, onDropped });
  };

  /** Answers. Once. */
  answer(answer: RpcAnswer): void {
    this.#isOver = true;
    const stream = answer.kind === "result" ? this.#open() : this.#stream;
    this.#stopTimer?.();
    const { reply, frame } = this.post;
    const { http, headers } = this.#streams;
    if (stream === undefined) http.responder.answer(reply, answer, { id: frame.id, era: "legacy", headers });
    else this.#streams.finish(stream, http.responder.render(frame.id, answer, "legacy"));
  }

  /** Ends without an answer: its client has cancelled it. */
  cancelled(): void {
    this.#isOver = true;
    this.#stopTimer?.();
    if (this.#stream !== undefined) this.#streams.finish(this.#stream);
    else this.post.reply.answer({ status: 202, headers: this.#streams.headers });
  }

  /** Ends because its session does. */
  ended(): void {
    this.#isOver = true;
    this.#stopTimer?.();
    const { reply, frame } = this.post;
    if (this.#stream !== undefined) this.#streams.finish(this.#stream);
    else this.#streams.http.responder.refuse(reply, sessionNotFound, { status: 404, id: frame.id });
  }

  #left(): void {
    this.#isGone = true;
    this.#onGone?.();
  }

  #open(isWanted = this.token !== undefined): EventStream | undefined {
    if (this.#stream !== undefined || !isWanted || this.#isGone) return this.#stream;
    this.#stopTimer?.();
    const { post } = this;
    const stream = this.#streams.open();
    this.#stream = stream;
    stream.onGone = () => this.#left();
    this.#streams.read(stream, post);
    return stream;
  }
}
