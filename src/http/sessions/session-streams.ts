import { closing, rpcCodes, toRpcError, type RpcError } from "../../mcp/protocol.ts";
import { acceptsType } from "../check-head.ts";
import { isRefused, type Place } from "../admission.ts";
import type { HttpExchange } from "../message.ts";
import type { HttpSetting } from "../setting.ts";
import { eventStreamHeaders, toEvent } from "../sse.ts";
import { EventLog, mintTag, readEventId, toEventId, type EventPlace, type LoggedMessage } from "./event-log.ts";
import { EventStream, missedNotice, type StreamOwner } from "./event-stream.ts";
import type { Session } from "./session.ts";

/** The session, as far as its streams call it. */
type StreamsSession = Pick<Session, "caller" | "touch" | "clientLeft" | "setOutputFull" | "announce">;

/** Dependencies of {@link SessionStreams}. */
export interface SessionStreamsDeps {
  readonly http: HttpSetting;
  /** Headers of every response: the session's id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly primes: boolean;
  readonly session: StreamsSession;
}

/** How a client reads a stream. */
export interface Reading {
  /** Number of the last event that it has. @default it begins */
  readonly after?: number | undefined;
  readonly place?: Place;
}

/** Bytes of one session's messages that are kept. */
const maxLogBytes = 4 * 1024 * 1024;

/** Bytes of sent messages that are kept, for the case that they were lost on the way. */
const maxSentBytes = 256 * 1024;

/** Milliseconds that a question waits for a client to listen, if the client takes no stream for its requests. */
const listenMs = 5000;

const second = toRpcError(rpcCodes.busy, "Conflict: only one stream is allowed for a session");
const unknownEvent = toRpcError(rpcCodes.busy, "Bad request: unknown event id");
const notAcceptable = toRpcError(rpcCodes.busy, "Not acceptable: the client must accept text/event-stream");

/**
 * The streams of one session: a stream for each request that is answered with one, and the *notices*, a stream of what belongs to no
 * request. Call {@link close} when done.
 */
export class SessionStreams implements StreamOwner {
  readonly http: HttpSetting;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a stream begins with an id to resume from. */
  readonly primes: boolean;
  readonly log: EventLog<EventStream>;
  readonly tag: string = mintTag();
  readonly #session: StreamsSession;
  readonly #notices: EventStream;
  readonly #read = new Set<EventStream>();
  #isHushed = false;
  #isClosed = false;

  constructor({ http, headers, primes, session }: SessionStreamsDeps) {
    this.http = http;
    this.headers = headers;
    this.primes = primes;
    this.#session = session;
    this.log = new EventLog({
      maxMessages: http.bounds.maxQueued,
      maxBytes: maxLogBytes,
      maxSentBytes,
      budget: http.budgets.logBytes,
      caller: session.caller,
    });
    this.#notices = this.open();
  }

  /** Whether a client reads any of them. */
  get isRead(): boolean {
    return this.#read.size > 0;
  }

  /** Sends a message that belongs to no request. Calls `onDropped` if it is dropped before it was sent. */
  readonly tell = (json: string, onDropped?: () => void): void => {
    this.append(this.#notices, { json, onDropped });
    if (this.#isHeld()) this.#update();
  };

  /** As {@link tell}, for a client that takes no other stream. If it does not listen soon, the message is dropped. */
  tellSoon(json: string, onDropped: () => void): void {
    let isWanted = true;
    const give = (): void => {
      if (this.#notices.isRead) return;
      isWanted = false;
      onDropped();
    };
    // The log may drop it again: `onDropped` acts once.
    this.append(this.#notices, { json, onDropped, isWanted: () => isWanted });
    if (!this.#isHeld()) return;
    this.#update();
    if (!this.#notices.isRead) this.http.clock.after(listenMs, give);
  }

  /** Opens a stream. */
  open(): EventStream {
    return this.log.open((number) => new EventStream(this, number));
  }

  /** Adds a message to a stream, and sends it if a client reads. */
  append(stream: EventStream, message: LoggedMessage): void {
    if (this.#isClosed) return message.onDropped?.();
    this.log.add(stream, message);
    stream.flush();
    // After the flush: a reader gets the message, however little is kept.
    this.log.trim();
  }

  /** Adds the last message of a stream, if there is one, and ends the stream. */
  finish(stream: EventStream, json?: string): void {
    stream.isFinished = true;
    if (json !== undefined && !this.#isClosed) this.append(stream, { json });
    else stream.flush();
    this.log.forgetEmpty(stream);
  }

  /** Answers an exchange with a stream. */
  read(stream: EventStream, { reply, caller }: HttpExchange, { after, place }: Reading = {}): void {
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    const onGone = (): void => {
      stream.lost(sink);
      if (stream === this.#notices) this.#session.clientLeft();
    };
    reply.onGone = onGone;
    stream.attach({ sink, after, caller, place });
  }

  /** Opens the stream of notices, or resumes the stream that `Last-Event-ID` names. */
  listen(exchange: HttpExchange): void {
    const { request } = exchange;
    const accept = request.header("accept");
    if (accept === undefined || !acceptsType(accept, "text/event-stream"))
      return this.#refuse(exchange, notAcceptable, 406);
    const lastId = request.header("last-event-id");
    if (lastId !== undefined) return this.#resume(exchange, readEventId(this.tag, lastId));
    if (this.#notices.isRead) return this.#refuse(exchange, second, 409);
    this.#admit(exchange, this.#notices);
  }

  /** Ends the stream of notices for good. The streams of requests go on, and can be resumed. */
  hush(): void {
    this.#isHushed = true;
    this.#notices.close();
  }

  /** Ends the reading of notices. The client may resume. */
  dismiss(): void {
    this.#notices.close();
  }

  /** Ends all of them. Callable twice. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.log.streams.values()) stream.close();
    this.log.clear();
  }

  changed(stream: EventStream): void {
    if (stream.isRead) this.#read.add(stream);
    else this.#read.delete(stream);
    this.log.forgetEmpty(stream);
    this.#session.touch();
    if (stream === this.#notices) this.#update();
  }

  missed(stream: EventStream): void {
    if (stream === this.#notices) this.#session.announce();
  }

  #resume(exchange: HttpExchange, place: EventPlace | undefined): void {
    const { reply } = exchange;
    const stream = place && this.log.find(place.stream);
    if (place === undefined || stream === undefined) return this.#refuse(exchange, unknownEvent, 400);
    if (stream === "gone") return this.#answerGone(exchange, place);
    const { seq } = place;
    if (seq > stream.reached) return this.#refuse(exchange, unknownEvent, 400);
    // The client has everything. By this status it learns not to come again.
    if (stream.isFinished && seq === stream.last) return reply.answer({ status: 204, headers: this.headers });
    this.#admit(exchange, stream, seq);
  }

  /** Says once of a stream whose messages were dropped that something was missed. */
  #answerGone({ reply }: HttpExchange, { stream, seq }: EventPlace): void {
    if (seq === Infinity) return reply.answer({ status: 204, headers: this.headers });
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    sink.write(toEvent(missedNotice, toEventId(this.tag, { stream, seq: Infinity })));
    sink.end();
  }

  /** Has a client read a stream if there is a place for one more. */
  #admit(exchange: HttpExchange, stream: EventStream, after?: number): void {
    if (exchange.reply.isOver) return;
    if (this.#isHushed && stream === this.#notices) return this.#refuse(exchange, closing, 503);
    // A client that resumes takes over the place of the reader before.
    const place = stream.takePlace() ?? this.http.admission.openStream(exchange.caller);
    if (isRefused(place)) {
      const error = toRpcError(rpcCodes.busy, "Server busy: too many streams are open", place);
      return this.#refuse(exchange, error, 429);
    }
    this.read(stream, exchange, { after, place });
  }

  #isHeld(): boolean {
    return !this.#notices.isRead || this.#notices.isFull;
  }

  #update(): void {
    if (!this.#isClosed) this.#session.setOutputFull(this.#isHeld());
  }

  #refuse({ reply }: HttpExchange, error: RpcError, status: number): void {
    const headers = status === 429 ? { "retry-after": "1", ...this.headers } : this.headers;
    this.http.responder.refuse(reply, error, { status, headers });
  }
}
