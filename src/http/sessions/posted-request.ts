import type { RpcAnswer } from "../../mcp/protocol.ts";
import { rpcCodes, toRpcError } from "../../mcp/protocol.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import { acceptsType } from "../head/media-type.ts";
import type { HttpPost } from "../leg.ts";
import type { EventStream } from "./event-stream.ts";
import type { SessionStreams } from "./session-streams.ts";

/** A POST whose frame is a request. */
export interface RequestPost extends HttpPost {
  readonly frame: RequestFrame;
}

/** How a client names the reports of progress that it wants. */
export type ProgressToken = string | number;

const ended = toRpcError(rpcCodes.sessionNotFound, "Session not found");

/**
 * One request and its answer: JSON in one piece, or, where its client wants to hear more, a stream of events from the
 * first word on. A stream goes on when its connection is gone: what is said is kept for who resumes it.
 */
export class PostedRequest {
  readonly post: RequestPost;
  /** Left out where nothing but the answer is to be said. */
  readonly token: ProgressToken | undefined;
  readonly #streams: SessionStreams;
  #stream: EventStream | undefined;
  #stopTimer: (() => void) | undefined;
  #isGone: boolean;
  /** Told when its client has gone, before it was answered. */
  onGone: (() => void) | undefined;

  constructor(post: RequestPost, token: ProgressToken | undefined, streams: SessionStreams) {
    const { request, reply } = post;
    this.post = post;
    this.#streams = streams;
    this.#isGone = reply.isOver;
    reply.onGone = () => this.#left();
    this.token = acceptsType(request.header("accept"), "text/event-stream") ? token : undefined;
    const { keepAliveMs } = streams.http.bounds;
    if (this.token === undefined || keepAliveMs === 0) return;
    // A connection on which nothing is heard is taken for a dead one.
    this.#stopTimer = streams.http.clock.after(keepAliveMs, () => void this.#open());
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

  /** Answers. Once. */
  answer(answer: RpcAnswer): void {
    const stream = answer.kind === "result" ? this.#open() : this.#stream;
    this.#stopTimer?.();
    const { reply, frame } = this.post;
    const { http, headers } = this.#streams;
    if (stream === undefined) http.responder.answer(reply, answer, { id: frame.id, era: "legacy", headers });
    else this.#streams.appendResult(stream, http.responder.render(frame.id, answer, "legacy"));
  }

  /** Ends without an answer: its client has cancelled it. */
  cancelled(): void {
    this.#stopTimer?.();
    if (this.#stream !== undefined) this.#streams.finish(this.#stream);
    else this.post.reply.answer({ status: 202, headers: this.#streams.headers });
  }

  /** Ends because its session does. */
  ended(): void {
    this.#stopTimer?.();
    const { reply, frame } = this.post;
    if (this.#stream !== undefined) this.#streams.finish(this.#stream);
    else this.#streams.http.responder.refuse(reply, ended, { status: 404, id: frame.id });
  }

  #left(): void {
    this.#isGone = true;
    this.onGone?.();
  }

  #open(): EventStream | undefined {
    if (this.#stream !== undefined || this.token === undefined || this.#isGone) return this.#stream;
    this.#stopTimer?.();
    const { post } = this;
    const stream = this.#streams.open();
    this.#stream = stream;
    stream.onGone = () => this.#left();
    this.#streams.read(stream, post);
    return stream;
  }
}
