import { CallContext, type CallStage, type LogSink } from "../../call/call-context.ts";
import { ClientRequest, type AdmittedRequest } from "../../mcp/dispatcher.ts";
import type { ClientExtension } from "../../mcp/extensions/extensions.ts";
import { ownParam, progressTokenOf, sessionNotFound, type RpcAnswer } from "../../mcp/protocol.ts";
import { toProgressSink, type ClientLog, type NotificationOutput } from "../../mcp/notifications.ts";
import type { HeldBytes } from "../body.ts";
import { acceptsType } from "../check-head.ts";
import type { HttpExchange, HttpReply } from "../message.ts";
import { readTraceHeaders } from "../check-envelope.ts";
import type { EventStream } from "./event-log.ts";
import type { Session } from "./session.ts";

function endsOnDisconnect({ frame, view }: AdmittedRequest): boolean {
  const name = ownParam(frame.params, "name");
  return typeof name === "string" && view.catalog.tool(name)?.onDisconnect === "abort";
}

/**
 * One request of a session and its answer: JSON in one piece, or a stream of events from the first message on if the client wants
 * more than the answer, or gets a question. A stream outlives its connection: messages are kept for a client that resumes it.
 */
export class SessionRequest extends ClientRequest {
  readonly token: ReturnType<typeof progressTokenOf>;
  readonly reply: HttpReply;
  #bytes: HeldBytes | undefined;
  readonly #session: Session;
  readonly #isStreamable: boolean;
  /** Whether the answer, and the messages before it, are a stream. */
  readonly #isReporting: boolean;
  #stream: EventStream | undefined;
  #stopTimer: (() => void) | undefined;
  #isGone: boolean;
  #isOver = false;
  #endsOnDrop = false;

  constructor(session: Session, { request, reply, bytes }: HttpExchange, admitted: AdmittedRequest) {
    const { clock, bounds } = session.streams.http;
    super(admitted, "legacy");
    this.outerTrace = readTraceHeaders(request);
    this.reply = reply;
    this.#bytes = bytes;
    this.#session = session;
    this.#isGone = reply.isOver;
    const onGone = (): void => this.#left();
    reply.onGone = onGone;
    const token = progressTokenOf(admitted.frame.params);
    this.token = token;
    this.#isStreamable = acceptsType(request.header("accept"), "text/event-stream");
    this.#isReporting = this.#isStreamable && token !== undefined && typeof token !== "object";
    if (!this.#isReporting || bounds.keepAliveMs === 0) return;
    // Proxies and clients take a silent connection for a dead one.
    this.#stopTimer = clock.after(bounds.keepAliveMs, () => void this.#open());
  }

  get version(): string {
    return this.#session.version;
  }

  get log(): ClientLog {
    return this.#session.log;
  }

  override get extensions(): ReadonlySet<ClientExtension> {
    return this.#session.extensions;
  }

  override get isUnread(): boolean {
    return (this.reply.heldBytes ?? 0) > 0;
  }

  open(token: string | number | undefined): CallContext {
    const { caller } = this;
    const { streams, asks } = this.#session;
    const { limiter, counters } = streams.http;
    const isCall = this.frame.method === "tools/call";
    this.#endsOnDrop = isCall && endsOnDisconnect(this);
    const isPrimed = isCall && this.#isReporting;
    const sent = token !== undefined && this.#isReporting ? { token, output: this.#output() } : undefined;
    // No spread into this literal: it took a twentieth of the CPU of a request.
    return new CallContext({
      sink: sent && toProgressSink(sent.token, sent.output),
      log: sent === undefined ? this.#session.noticeLog : this.#logTo(sent.output),
      caller,
      limiter,
      asking: asks?.portFor((json, onDropped) => this.#ask(json, onDropped), caller),
      reached: isPrimed ? (stage) => this.#reached(stage) : counters.reached,
    });
  }

  override held(): void {
    this.#bytes?.hold();
  }

  override released(): void {
    this.#bytes?.release();
    this.#bytes = undefined;
  }

  answer(answer: RpcAnswer): void {
    this.#isOver = true;
    const stream = answer.kind === "result" ? this.#open() : this.#stream;
    this.#stopTimer?.();
    const { http, headers } = this.#session.streams;
    const { id } = this.frame;
    if (stream === undefined) http.responder.answer(this.reply, answer, { id, headers });
    else this.#session.streams.finish(stream, http.responder.render(id, answer, "legacy"));
  }

  override cancelled(): void {
    const { headers } = this.#session.streams;
    if (!this.#finish()) this.reply.answer({ status: 202, headers });
  }

  override ended(): void {
    const { http } = this.#session.streams;
    const { id } = this.frame;
    if (!this.#finish()) http.responder.answer(this.reply, sessionNotFound, { status: 404, id });
  }

  /** Ends the request without an answer. Returns `false` if it has no stream. */
  #finish(): boolean {
    this.#isOver = true;
    this.#stopTimer?.();
    if (this.#stream === undefined) return false;
    this.#session.streams.finish(this.#stream);
    return true;
  }

  /** Returns the client's log on the stream of the answer. Without a stream, the log goes to the stream of notices. */
  #logTo(output: NotificationOutput): LogSink | undefined {
    const { streams, log } = this.#session;
    return streams.http.runtime.logs ? log.sinkTo(output) : undefined;
  }

  #output(): NotificationOutput {
    const send = (json: string): void => {
      const stream = this.#open();
      if (stream !== undefined) this.#session.streams.append(stream, { json });
    };
    // Messages for a stream are kept, as many as there is room for, also after the client left.
    return { send, isFull: () => this.#stream === undefined && this.#isGone };
  }

  /** Opens the stream once the handler of a tool runs: a client that leaves then needs an id to resume from. */
  #reached(stage: CallStage): void {
    const { http, primes } = this.#session.streams;
    http.counters.reached(stage);
    if (stage === "backend" && primes) this.#open();
  }

  /**
   * Sends a question on the stream of the request, which it opens if need be. If the client left before, or the request is over, the
   * question goes to the stream of notices.
   */
  #ask(json: string, onDropped: () => void): void {
    const { streams } = this.#session;
    const stream = this.#isOver ? undefined : this.#open(this.#isStreamable);
    if (stream !== undefined) streams.append(stream, { json, onDropped });
    else if (this.#isStreamable) streams.tell(json, onDropped);
    else streams.tellSoon(json, onDropped);
  }

  #left(): void {
    this.#isGone = true;
    if (this.#endsOnDrop) this.#session.drop(this);
    else this.call?.drop();
  }

  #open(isWanted = this.#isReporting): EventStream | undefined {
    if (this.#stream !== undefined || !isWanted || this.#isGone) return this.#stream;
    this.#stopTimer?.();
    const { streams } = this.#session;
    const stream = streams.open(this.frame);
    this.#stream = stream;
    const onGone = (): void => this.#left();
    stream.onGone = onGone;
    streams.read(stream, this);
    return stream;
  }
}
