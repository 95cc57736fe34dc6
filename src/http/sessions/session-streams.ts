import { rpcCodes, toRpcError } from "../../mcp/protocol.ts";
import { isRefused, type Place } from "../admission.ts";
import type { HttpExchange } from "../leg.ts";
import type { HttpSetting } from "../setting.ts";
import { eventStreamHeaders } from "../sse.ts";
import { mintTag, readEventId, toEventId } from "./event-id.ts";
import { EventLog } from "./event-log.ts";
import { EventStream, missedNotice, type StreamShared } from "./event-stream.ts";
import { toEvent } from "../sse.ts";

/** What the streams of one session are made of. */
export interface SessionStreamsSetting {
  readonly http: HttpSetting;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly primes: boolean;
  /** Told when somebody begins or ceases to read. */
  readonly touched: () => void;
  /** Told whether what belongs to no request can be sent now. */
  readonly setFull: (isFull: boolean) => void;
}

/** How much of a session's messages is kept, in characters. */
const maxLogSize = 4 * 1024 * 1024;

const second = toRpcError(rpcCodes.busy, "Conflict: only one stream is allowed for a session");
const unknownEvent = toRpcError(rpcCodes.busy, "Bad request: unknown event id");
const notAcceptable = toRpcError(rpcCodes.busy, "Not acceptable: client must accept text/event-stream");

/** The streams of one session: one of what belongs to no request, and one for each request that is answered with one. */
export class SessionStreams {
  readonly #setting: SessionStreamsSetting;
  readonly #shared: StreamShared;
  readonly #log: EventLog;
  /** Those that are read or go on. */
  readonly #live = new Map<number, EventStream>();
  readonly #notices: EventStream;
  #isClosed = false;

  constructor(setting: SessionStreamsSetting) {
    const { http, primes } = setting;
    const { clock, keepAlive, bounds } = http;
    this.#setting = setting;
    this.#shared = { clock, keepAlive, stallMs: bounds.stallMs, tag: mintTag(), primes };
    this.#log = new EventLog({ maxMessages: bounds.maxQueued, maxSize: maxLogSize });
    this.#notices = this.open();
    this.#notices.onChange = () => this.#update();
  }

  /** Whether somebody reads any of them. */
  get isRead(): boolean {
    for (const stream of this.#live.values()) if (stream.isRead) return true;
    return false;
  }

  /** Whether what belongs to no request would pile up, or nobody reads it. */
  get isFull(): boolean {
    return !this.#notices.isRead || this.#notices.isFull;
  }

  /** How many messages were thrown away unsent. */
  get dropped(): number {
    return this.#log.dropped;
  }

  /** Sends what belongs to no request. */
  tell(json: string): void {
    this.append(this.#notices, json, false);
  }

  /** Sends a notice of a change. */
  notify(json: string): void {
    this.tell(json);
    if (this.isFull) this.#update();
  }

  /** Opens a stream. */
  open(): EventStream {
    const stream = new EventStream(this.#shared, this.#log.open());
    this.#live.set(stream.kept.number, stream);
    return stream;
  }

  /** Keeps a message of a stream, and sends it where somebody reads. */
  append(stream: EventStream, json: string, isResult: boolean): void {
    if (this.#isClosed) return;
    if (isResult) this.#log.addResult(stream.kept, json);
    else this.#log.add(stream.kept, { json });
    stream.flush();
    if (stream.kept.isFinished && !stream.isRead) this.#live.delete(stream.kept.number);
  }

  /** Opens the stream of what belongs to no request, or resumes the one that an event id names. */
  listen(exchange: HttpExchange): void {
    const { request, reply } = exchange;
    const refuse = (error: typeof second, status: number): void =>
      this.#setting.http.responder.refuse(reply, error, { status, headers: this.#setting.headers });
    if (!(request.header("accept") ?? "").includes("text/event-stream")) return refuse(notAcceptable, 406);
    const lastId = request.header("last-event-id");
    if (lastId !== undefined) return this.#resume(exchange, lastId, () => refuse(unknownEvent, 400));
    if (this.#notices.isRead) return refuse(second, 409);
    this.#attach(exchange, this.#notices, undefined);
  }

  /** Ends the stream of what belongs to no request. */
  hush(): void {
    this.#notices.close();
  }

  /** Ends all of them. Callable twice. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#live.values()) stream.close();
    this.#live.clear();
    this.#log.clear();
  }

  #resume(exchange: HttpExchange, lastId: string, refuse: () => void): void {
    const { tag } = this.#shared;
    const place = readEventId(tag, lastId);
    const kept = place === undefined ? undefined : this.#log.find(place.stream);
    if (place === undefined || kept === undefined) return refuse();
    const { reply } = exchange;
    const { headers } = this.#setting;
    if (place.seq === Infinity) return reply.answer({ status: 204, headers });
    if (kept === "gone") {
      const sink = reply.stream({ ...eventStreamHeaders, ...headers });
      sink.write(toEvent(missedNotice, toEventId(tag, { stream: place.stream, seq: Infinity })));
      return sink.end();
    }
    if (place.seq > kept.last) return refuse();
    // To who has all of it there is nothing to say any more: by this status a client learns not to come again.
    if (kept.isFinished && place.seq === kept.last) return reply.answer({ status: 204, headers });
    const live = this.#live.get(kept.number) ?? new EventStream(this.#shared, kept);
    this.#live.set(kept.number, live);
    this.#attach(exchange, live, place.seq);
  }

  #attach({ reply, caller }: HttpExchange, stream: EventStream, after: number | undefined): void {
    const { http, headers, touched } = this.#setting;
    const place = http.admission.openStream(caller);
    if (isRefused(place)) {
      const error = toRpcError(rpcCodes.busy, "Server busy: too many streams are open", place);
      return http.responder.refuse(reply, error, { status: 429, headers: { "retry-after": "1", ...headers } });
    }
    touched();
    const sink = reply.stream({ ...eventStreamHeaders, ...headers });
    reply.onGone = () => stream.lost(sink);
    stream.attach({ sink, after, caller, onLeft: () => this.#left(stream, place) });
    if (stream === this.#notices) this.#update();
  }

  #left(stream: EventStream, place: Place): void {
    place.release();
    this.#setting.touched();
    if (stream.kept.isFinished) this.#live.delete(stream.kept.number);
  }

  #update(): void {
    if (!this.#isClosed) this.#setting.setFull(this.isFull);
  }
}
