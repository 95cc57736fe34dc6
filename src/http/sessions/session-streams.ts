import { closing } from "../../mcp/refusals.ts";
import { rpcCodes, toRpcError, type RpcError } from "../../mcp/protocol.ts";
import { callerKey } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";
import { acceptsType } from "../head/media-type.ts";
import { isRefused, type Place } from "../admission.ts";
import type { HttpExchange } from "../leg.ts";
import type { HttpSetting } from "../setting.ts";
import { eventStreamHeaders, toEvent } from "../sse.ts";
import { mintTag, readEventId, toEventId, type EventPlace } from "./event-id.ts";
import { EventLog } from "./event-log.ts";
import { EventStream, missedNotice, type StreamShared } from "./event-stream.ts";
import type { LoggedMessage } from "./kept-stream.ts";

/** What the streams of one session are made of. */
export interface SessionStreamsSetting {
  readonly http: HttpSetting;
  /** Sent with every answer: the session's id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly primes: boolean;
  /** Whose they are. */
  readonly caller: Caller;
  /** Told when somebody begins or ceases to read. */
  readonly touched: () => void;
  /** Called after {@link touched} when the client closed the stream of what belongs to no request. */
  readonly left: () => void;
  /** Told whether what belongs to no request cannot be sent now, and had better be told once, later. */
  readonly setFull: (isFull: boolean) => void;
  /** Asked to announce everything that is subscribed to: some of it was missed. */
  readonly announce: () => void;
}

/** How somebody reads a stream, besides from its beginning. */
export interface Reading {
  /** The last event that they have. */
  readonly after?: number | undefined;
  readonly place?: Place;
}

/** How much of a session's messages is kept, in bytes. */
const maxLogBytes = 4 * 1024 * 1024;

/** How much of what its client was sent, for when that was lost on the way. */
const maxSentBytes = 256 * 1024;

/** For so long a question waits for a client to listen that takes no stream for its requests, in milliseconds. */
const listenMs = 5000;

const second = toRpcError(rpcCodes.busy, "Conflict: only one stream is allowed for a session");
const unknownEvent = toRpcError(rpcCodes.busy, "Bad request: unknown event id");
const notAcceptable = toRpcError(rpcCodes.busy, "Not acceptable: the client must accept text/event-stream");

/** The streams of one session: one of what belongs to no request, and one for each request that is answered with one. */
export class SessionStreams {
  readonly http: HttpSetting;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a stream begins with an id to resume from. */
  readonly primes: boolean;
  readonly #setting: SessionStreamsSetting;
  readonly #shared: StreamShared;
  readonly #log: EventLog;
  /** Those that are read, or go on. */
  readonly #live = new Map<number, EventStream>();
  readonly #notices: EventStream;
  #isHushed = false;
  #isClosed = false;

  constructor(setting: SessionStreamsSetting) {
    const { http, headers, primes, caller } = setting;
    const { clock, keepAlive, bounds, budgets } = http;
    this.http = http;
    this.headers = headers;
    this.primes = primes;
    this.#setting = setting;
    this.#log = new EventLog({
      bounds: { maxMessages: bounds.maxQueued, maxBytes: maxLogBytes, maxSentBytes },
      budget: budgets.logBytes,
      owner: caller.isAnonymous ? undefined : callerKey(caller),
    });
    this.#shared = { clock, keepAlive, log: this.#log, stallMs: bounds.stallMs, tag: mintTag(), primes };
    this.#notices = this.open();
    this.#notices.onChange = () => this.#update();
    this.#notices.onGap = setting.announce;
  }

  /** Whether somebody reads any of them. */
  get isRead(): boolean {
    for (const stream of this.#live.values()) if (stream.isRead) return true;
    return false;
  }

  /** How many messages were thrown away before anybody was sent them. */
  get dropped(): number {
    return this.#log.dropped;
  }

  /** Never: what nobody can be sent now is kept for later, as much of it as there is room for. */
  readonly isFull = (): boolean => false;

  /** Sends what belongs to no request. `onDropped` is told where it is thrown away before anybody was sent it. */
  readonly tell = (json: string, onDropped?: () => void): void => {
    this.append(this.#notices, { json, onDropped });
    if (this.#isHeld()) this.#update();
  };

  /** The same for whose client takes no other stream than this one: where it does not soon, nobody is sent it at all. */
  tellSoon(json: string, onDropped: () => void): void {
    let isWanted = true;
    const give = (): void => {
      if (this.#notices.isRead) return;
      isWanted = false;
      onDropped();
    };
    // Dropped by now, it is not dropped again: whoever is told takes it once.
    this.append(this.#notices, { json, onDropped, isWanted: () => isWanted });
    if (!this.#isHeld()) return;
    this.#update();
    if (!this.#notices.isRead) this.http.clock.after(listenMs, give);
  }

  /** Opens a stream. */
  open(): EventStream {
    const stream = new EventStream(this.#shared, this.#log.open());
    this.#live.set(stream.kept.number, stream);
    return stream;
  }

  /** Keeps a message of a stream, and sends it where somebody reads. */
  append(stream: EventStream, message: LoggedMessage): void {
    if (this.#isClosed) return message.onDropped?.();
    this.#log.add(stream.kept, message);
    stream.flush();
    // Only now: what somebody reads is sent to them, however little is kept.
    this.#log.trim();
  }

  /** Does so with the last message of a stream, and ends it. */
  appendResult(stream: EventStream, json: string): void {
    if (this.#isClosed) return;
    this.#log.addResult(stream.kept, json);
    this.#flushLast(stream);
    this.#log.trim();
  }

  /** Ends a stream on which nothing follows. */
  finish(stream: EventStream): void {
    this.#log.finish(stream.kept);
    this.#flushLast(stream);
  }

  /** Has the client of an exchange read a stream: it is answered with it. */
  read(stream: EventStream, { reply, caller }: HttpExchange, { after, place }: Reading = {}): void {
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    reply.onGone = () => {
      stream.lost(sink);
      if (stream === this.#notices) this.#setting.left();
    };
    stream.attach({ sink, after, caller, place, onLeft: () => this.#left(stream) });
  }

  /** Opens the stream of what belongs to no request, or resumes the one that an event id names. */
  listen(exchange: HttpExchange): void {
    const { request } = exchange;
    const accept = request.header("accept");
    if (accept === undefined || !acceptsType(accept, "text/event-stream"))
      return this.#refuse(exchange, notAcceptable, 406);
    const lastId = request.header("last-event-id");
    if (lastId === undefined) return this.#listenAnew(exchange);
    const place = readEventId(this.#shared.tag, lastId);
    if (place === undefined) return this.#refuse(exchange, unknownEvent, 400);
    this.#resume(exchange, place);
  }

  /** Ends the stream of what belongs to no request for good; those of calls go on, and may be resumed. */
  hush(): void {
    this.#isHushed = true;
    this.#notices.close();
  }

  /** Ends the reading of what belongs to no request; who comes back may go on. */
  dismiss(): void {
    this.#notices.close();
  }

  /** Ends all of them. Callable twice. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#live.values()) stream.close();
    this.#live.clear();
    this.#log.clear();
  }

  #listenAnew(exchange: HttpExchange): void {
    if (this.#notices.isRead) return this.#refuse(exchange, second, 409);
    this.#admit(exchange, this.#notices);
  }

  #resume(exchange: HttpExchange, place: EventPlace): void {
    const { reply } = exchange;
    const { stream: number, seq } = place;
    const kept = this.#log.find(number);
    if (kept === "gone") return this.#answerGone(exchange, place);
    if (kept === undefined || seq > kept.reached) return this.#refuse(exchange, unknownEvent, 400);
    // To who has all of it there is nothing to say any more: by this status a client learns not to come again.
    if (kept.isFinished && seq === kept.last) return reply.answer({ status: 204, headers: this.headers });
    const stream = this.#live.get(number) ?? new EventStream(this.#shared, kept);
    this.#live.set(number, stream);
    this.#admit(exchange, stream, seq);
  }

  /** Says of a stream of which nothing is kept that something was missed, once. */
  #answerGone({ reply }: HttpExchange, { stream, seq }: EventPlace): void {
    if (seq === Infinity) return reply.answer({ status: 204, headers: this.headers });
    const sink = reply.stream({ ...eventStreamHeaders, ...this.headers });
    sink.write(toEvent(missedNotice, toEventId(this.#shared.tag, { stream, seq: Infinity })));
    sink.end();
  }

  /** Has somebody read a stream, where there is a place for one more. */
  #admit(exchange: HttpExchange, stream: EventStream, after?: number): void {
    if (exchange.reply.isOver) return;
    if (this.#isHushed && stream === this.#notices) return this.#refuse(exchange, closing, 503);
    // Who comes again is not one more: the place of who read it before is theirs.
    const place = stream.takePlace() ?? this.http.admission.openStream(exchange.caller);
    if (isRefused(place)) {
      const error = toRpcError(rpcCodes.busy, "Server busy: too many streams are open", place);
      return this.#refuse(exchange, error, 429);
    }
    this.read(stream, exchange, { after, place });
    if (stream === this.#notices) this.#update();
  }

  #flushLast(stream: EventStream): void {
    stream.flush();
    if (!stream.isRead) this.#live.delete(stream.kept.number);
  }

  #left(stream: EventStream): void {
    if (stream.kept.isFinished && !stream.isRead) this.#live.delete(stream.kept.number);
    this.#setting.touched();
  }

  #isHeld(): boolean {
    return !this.#notices.isRead || this.#notices.isFull;
  }

  #update(): void {
    if (!this.#isClosed) this.#setting.setFull(this.#isHeld());
  }

  #refuse({ reply }: HttpExchange, error: RpcError, status: number): void {
    const headers = status === 429 ? { "retry-after": "1", ...this.headers } : this.headers;
    this.http.responder.refuse(reply, error, { status, headers });
  }
}
