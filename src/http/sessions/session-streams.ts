import type { RequestFrame } from "../../mcp/parse-frame.ts";
import { closing, rpcCodes, sessionNotFound, toRpcError, type RpcError } from "../../mcp/protocol.ts";
import { observeStream, type ObservedChannel } from "../../observe/observed-channel.ts";
import { isRefused } from "../admission.ts";
import { acceptsType } from "../check-head.ts";
import type { HttpDeps } from "../http-deps.ts";
import type { HttpExchange } from "../message.ts";
import { eventStreamHeaders, toEvent } from "../sse.ts";
import {
  EventLog,
  type EventPosition,
  type EventStream,
  type LoggedMessage,
  createEventTag,
  missedNotice,
  readCopyEventId,
  readEventId,
  type ReadStreamOptions,
  toEventId,
} from "./event-log.ts";
import { RemoteStream } from "./remote-stream.ts";
import type { Session } from "./session.ts";
import { answerFault, storeAway, type SessionPeers } from "./session-peers.ts";
import { restOf, streamNameOf, StreamLogs, type SharedEvent } from "./stream-logs.ts";

/** The part of the session that its streams call. */
type StreamsSession = Pick<Session, "caller" | "touch" | "clientLeft" | "setOutputFull" | "announce" | "listened">;

/** The other replicas that serve a session. */
export interface SharedSession {
  readonly peers: SessionPeers;
  /** Tag of the session, which starts those of its copies. */
  readonly tag: string;
  /** Receives errors of the store that no request waits for. */
  readonly failed: (cause: unknown) => void;
}

/** Dependencies of {@link SessionStreams}. */
export interface SessionStreamsDeps {
  readonly http: HttpDeps;
  /** Headers of every response: the session's id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly primes: boolean;
  readonly session: StreamsSession;
  readonly channel: ObservedChannel;
  /** @default this process serves the session alone */
  readonly shared?: SharedSession | undefined;
}

/** Position of an event among those of all copies of a session. */
type RemotePosition = NonNullable<ReturnType<typeof readCopyEventId>>;

/** Bytes of one session's messages that are kept. */
const maxLogBytes = 4 * 1024 * 1024;

/** Bytes of sent messages that are kept, for the case that they were lost on the way. */
const maxSentBytes = 256 * 1024;

/** Milliseconds that a question waits for a client to listen, if the client takes no stream for its requests. */
const listenMs = 5000;

const alreadyListening = toRpcError(
  rpcCodes.busy,
  "Conflict: this session has an open stream; close it before the next",
);
const unknownEvent = toRpcError(rpcCodes.busy, 'Bad request: unknown event id in "Last-Event-ID"');
const notAcceptable = toRpcError(rpcCodes.busy, 'Not acceptable: "Accept" must allow "text/event-stream"');

/**
 * The streams of one session: a stream for each request that is answered with one, and the *notices*, a stream of messages that
 * belong to no request. Call {@link close} when done.
 */
export class SessionStreams {
  readonly http: HttpDeps;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the client understands an event without data: a stream then begins with an id to resume from. */
  readonly primes: boolean;
  readonly log: EventLog;
  /** Tag in the ids of the session's events. */
  readonly tag: string;
  readonly #session: StreamsSession;
  readonly #channel: ObservedChannel;
  readonly #notices: EventStream;
  readonly #read = new Set<EventStream>();
  readonly #shared: SharedSession | undefined;
  /** The logs of the streams; `undefined` if this process serves the session alone. */
  readonly logs: StreamLogs | undefined;
  /** Streams that other replicas have ended. */
  readonly #left = new WeakSet<EventStream>();
  readonly #remotes = new Map<EventStream, RemoteStream>();
  #isDraining = false;
  #isClosed = false;
  /** Whether the session goes on at other replicas. */
  #hasMoved = false;

  constructor({ http, headers, primes, session, channel, shared }: SessionStreamsDeps) {
    this.http = http;
    this.headers = headers;
    this.primes = primes;
    this.#session = session;
    this.#channel = channel;
    this.#shared = shared;
    // Copies count their streams by themselves.
    this.tag = shared === undefined ? createEventTag() : shared.tag + crypto.randomUUID().slice(0, 8);
    this.logs = shared && new StreamLogs(shared, http.clock, (stream) => this.#leave(stream));
    this.log = new EventLog({
      maxMessages: http.bounds.maxQueued,
      maxBytes: maxLogBytes,
      maxSentBytes,
      budget: http.budgets.logBytes,
      caller: session.caller,
      dropped: (stream) => {
        if (!this.#hasMoved) this.logs?.drop(stream);
      },
    });
    this.#notices = this.open();
  }

  /** Returns whether a client reads any of them. */
  get isRead(): boolean {
    return this.#read.size > 0;
  }

  /** Returns whether a client reads the notices. */
  get hasListener(): boolean {
    return this.#notices.isRead;
  }

  /** Sends a message that belongs to no request. Calls `onDropped` if it is dropped before it was sent. */
  readonly tell = (json: string, onDropped?: () => void): void => {
    this.append(this.#notices, { json, onDropped });
    if (this.#isBlocked()) this.#update();
  };

  /** Sends as {@link tell} to a client that takes no other stream. If it does not listen soon, the message is dropped. */
  tellSoon(json: string, onDropped: () => void): void {
    let isWanted = true;
    const give = (): void => {
      if (this.#notices.isRead) return;
      isWanted = false;
      onDropped();
    };
    // The log may drop it again: `onDropped` acts once.
    this.append(this.#notices, { json, onDropped, isWanted: () => isWanted });
    if (!this.#isBlocked()) return;
    this.#update();
    if (!this.#notices.isRead) this.http.clock.after(listenMs, give);
  }

  /** Opens a stream. @param request - the request that it answers. */
  open(request?: RequestFrame): EventStream {
    const stream = this.log.open(this);
    if (request !== undefined) this.logs?.open(stream, request);
    return stream;
  }

  /** Adds a message to a stream, and sends it if a client reads. */
  append(stream: EventStream, message: LoggedMessage): void {
    if (this.#isClosed || this.#left.has(stream)) return message.onDropped?.();
    this.log.add(stream, message);
    if (stream.head !== undefined) this.logs?.append(stream, message.json);
    stream.flush();
    // After the flush: a reader gets the message, however little is kept.
    this.log.trim();
  }

  /** Adds the last message of a stream, if there is one, and ends the stream. */
  finish(stream: EventStream, json?: string): void {
    stream.isFinished = true;
    if (json !== undefined && !this.#isClosed) this.append(stream, { json });
    else {
      this.logs?.append(stream, "");
      stream.flush();
    }
    this.log.forgetEmpty(stream);
  }

  /** Answers an exchange with a stream. */
  read(stream: EventStream, { reply, caller }: Pick<HttpExchange, "reply" | "caller">, more?: ReadStreamOptions): void {
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    const onGone = (): void => {
      stream.lost(sink);
      if (stream === this.#notices) this.#session.clientLeft();
    };
    reply.onGone = onGone;
    if (stream === this.#notices) this.#session.listened(caller);
    stream.attach({ sink, caller, after: more?.after, permit: more?.permit });
  }

  /** Opens the stream of notices, or resumes the stream that `Last-Event-ID` names. */
  listen(exchange: HttpExchange): void {
    const { request } = exchange;
    const accept = request.header("accept");
    if (accept === undefined || !acceptsType(accept, "text/event-stream"))
      return this.#refuse(exchange, notAcceptable, 406);
    const lastId = request.header("last-event-id");
    if (lastId !== undefined) {
      const remote = this.remoteOf(lastId);
      return remote === undefined
        ? this.#resume(exchange, readEventId(this.tag, lastId))
        : this.#resumeRemote(exchange, remote);
    }
    if (this.#notices.isRead) return this.#refuse(exchange, alreadyListening, 409);
    this.#admit(exchange, this.#notices);
  }

  /** Reads the id of an event of another replica; `undefined` for any other id. */
  remoteOf(lastId: string): RemotePosition | undefined {
    const position = this.#shared && readCopyEventId(this.#shared.tag, lastId);
    return position?.tag === this.tag ? undefined : position;
  }

  /** Reads on in a stream of another replica that a client follows here. */
  grew(source: unknown): void {
    for (const remote of this.#remotes.values()) remote.grew(source);
  }

  /** Tells another replica of the events of a stream, if the stream is one of this copy. */
  followed(source: unknown): void {
    for (const stream of this.log.streams.values()) {
      if (stream.head !== undefined && streamNameOf(stream.origin) === source) this.logs?.follow(stream);
    }
  }

  /** Ends the stream of notices for good. The streams of requests go on, and can be resumed. */
  drain(): void {
    this.#isDraining = true;
    this.#notices.close();
  }

  /** Ends the reading of notices. The client may resume. */
  dismiss(): void {
    this.#notices.close();
  }

  /** Ends all of them. Callable twice. @param hasMoved - whether other replicas need the logs. */
  close(hasMoved = false): void {
    this.#isClosed = true;
    this.#hasMoved = hasMoved;
    for (const remote of this.#remotes.values()) remote.close();
    for (const stream of this.log.streams.values()) stream.close();
    this.log.clear();
  }

  /** Called by a stream whose reader has come, left, or caught up. */
  changed(stream: EventStream): void {
    if (stream.isRead) {
      this.#read.add(stream);
      this.#remotes.get(stream)?.drained();
    } else {
      this.#read.delete(stream);
      this.#remotes.get(stream)?.close();
      this.#remotes.delete(stream);
    }
    this.log.forgetEmpty(stream);
    this.#session.touch();
    if (stream === this.#notices) this.#update();
  }

  /** Called by a stream whose reader got the notice that messages are missing. */
  missed(stream: EventStream): void {
    if (stream === this.#notices) this.#session.announce();
  }

  #resume(exchange: HttpExchange, position: EventPosition | undefined): void {
    const { reply } = exchange;
    const stream = position && this.log.find(position.stream);
    if (position === undefined || stream === undefined) return this.#refuse(exchange, unknownEvent, 400);
    // Its log may have an end that another replica has written.
    if (stream === "gone") return this.#resumeRemote(exchange, { ...position, tag: this.tag });
    const { seq } = position;
    // Another replica may have sent what its log has.
    if (seq > (stream.head === undefined ? stream.reached : stream.last))
      return this.#refuse(exchange, unknownEvent, 400);
    // The client has everything. This status keeps it from trying again.
    if (stream.isFinished && seq === stream.last) return reply.answer({ status: 204, headers: this.headers });
    this.#admit(exchange, stream, seq);
  }

  /** Lets a client read on in a stream of another replica. */
  #resumeRemote(exchange: HttpExchange, position: RemotePosition): void {
    const { logs } = this;
    // Notices are in no log. The session announces what the client is subscribed to.
    if (position.stream === 0) return this.#admit(exchange, this.#notices);
    if (position.seq === Infinity || logs === undefined) return this.#answerGone(exchange, position);
    const onRead = (events: readonly SharedEvent[]): void => this.#readRemote(exchange, position, events);
    const onAway = (cause: unknown): void => {
      this.#shared?.failed(cause);
      this.#refuse(exchange, storeAway, 503);
    };
    const onFault = (cause: unknown): void => answerFault(this.http, exchange.reply, cause);
    logs.read(position, position.seq).then(onRead, onAway).catch(onFault);
  }

  /** @param events - the last one that the client has, and those behind it. */
  #readRemote(exchange: HttpExchange, position: RemotePosition, events: readonly SharedEvent[]): void {
    const { logs } = this;
    const shared = this.#shared;
    const { seq } = position;
    if (this.#isClosed || logs === undefined || shared === undefined)
      return this.#refuse(exchange, sessionNotFound, 404);
    const rest = restOf(events, seq);
    if (rest === "gone") return this.#answerGone(exchange, position);
    if (rest === "none") return exchange.reply.answer({ status: 204, headers: this.headers });
    for (const [stream, remote] of this.#remotes)
      if (streamNameOf(stream.origin) === streamNameOf(position)) remote.close();
    const stream = this.log.open(this, position);
    stream.first = seq + 1;
    stream.sent = seq;
    stream.reached = seq;
    const remote = new RemoteStream({ ...shared, streams: this, logs, origin: position, stream });
    this.#remotes.set(stream, remote);
    this.#admit(exchange, stream, seq);
    if (stream.isRead) return remote.start(events);
    this.#remotes.delete(stream);
    remote.close();
  }

  /** Leaves a stream to its log, which another replica has ended. The client reads on there. */
  #leave(stream: EventStream): void {
    this.#left.add(stream);
    stream.close();
    stream.keptUntil = 0;
    this.log.remove(stream);
  }

  /** Announces once that messages of a stream were dropped. */
  #answerGone({ reply }: HttpExchange, { tag, stream, seq }: RemotePosition): void {
    if (seq === Infinity) return reply.answer({ status: 204, headers: this.headers });
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    sink.write(toEvent(missedNotice, toEventId(tag, { stream, seq: Infinity })));
    sink.end();
  }

  /** Lets a client read a stream if one more stream is permitted. */
  #admit(exchange: HttpExchange, stream: EventStream, after?: number): void {
    if (exchange.reply.isOver) return;
    if (this.#isDraining && stream === this.#notices) return this.#refuse(exchange, closing, 503);
    // A client that resumes takes over the permit of the reader before.
    const taken = stream.takePermit();
    if (taken !== undefined) return this.read(stream, exchange, { after, permit: taken });
    const { admission, runtime } = this.http;
    const permit = admission.openStream(exchange.caller);
    if (!isRefused(permit)) {
      const client = { caller: exchange.caller, session: this.#channel.session };
      const observed = observeStream(runtime.observers, client, permit);
      return this.read(stream, exchange, { after, permit: observed });
    }
    this.#refuse(exchange, toRpcError(rpcCodes.busy, "Server busy: too many streams are open", permit), 429);
  }

  /** Returns whether messages that belong to no request must wait. */
  #isBlocked(): boolean {
    return !this.#notices.isRead || this.#notices.isFull;
  }

  #update(): void {
    if (!this.#isClosed) this.#session.setOutputFull(this.#isBlocked());
  }

  #refuse(exchange: HttpExchange, error: RpcError, status: number): void {
    const headers = status === 429 ? { "retry-after": "1", ...this.headers } : this.headers;
    this.http.responder.refuse(exchange, error, { status, headers, stage: status === 429 ? "busy" : "session" });
  }
}
