import type { Budget, Share } from "../../spine/budget.ts";
import type { Caller } from "../../surface/caller.ts";
import { budgetKeyOf, type Permit } from "../admission.ts";
import { onTokenExpiry } from "../auth/verdict.ts";
import type { HttpDeps } from "../http-deps.ts";
import type { EventSink } from "../message.ts";
import { StallTimer, toEvent } from "../sse.ts";
import type { SessionStreams } from "./session-streams.ts";

/** Position of an event among those of a session. */
export interface EventPosition {
  /** Number of the stream. */
  readonly stream: number;
  /** Number within the stream, from 1; 0 stands before the first event, infinity behind the last. */
  readonly seq: number;
}

const eventId = /^([0-9a-f]{12}(?:[0-9a-f]{8})?)\.(0|[1-9][0-9]{0,14})\.(0|[1-9][0-9]{0,14}|end)$/;

/** Creates the tag in the ids of one session's events. It does not reveal the session's own id, which is a secret. */
export function createEventTag(): string {
  return crypto.randomUUID().slice(-12);
}

/** Writes the id of an event. */
export function toEventId(tag: string, { stream, seq }: EventPosition): string {
  return `${tag}.${stream}.${Number.isFinite(seq) ? seq : "end"}`;
}

/** Reads the id of an event; `undefined` for an id of another session. */
export function readEventId(tag: string, id: string): EventPosition | undefined {
  const position = readCopyEventId(tag, id);
  return position?.tag === tag ? position : undefined;
}

/** Reads the id of an event of any copy of a session, whose tags have the same start. */
export function readCopyEventId(start: string, id: string): (EventPosition & { readonly tag: string }) | undefined {
  const [, tag, stream, seq] = eventId.exec(id) ?? [];
  if (tag?.startsWith(start) !== true) return undefined;
  return { tag, stream: Number(stream), seq: seq === "end" ? Infinity : Number(seq) };
}

/** A message to the client. */
export interface LoggedMessage {
  readonly json: string;
  /** Called if the message is dropped before it was sent. Must not throw. */
  readonly onDropped?: (() => void) | undefined;
  /** Returns whether the message is still to be sent. @default it is */
  readonly isWanted?: (() => boolean) | undefined;
}

interface KeptMessage extends LoggedMessage {
  readonly bytes: number;
}

/** The part of the session's streams that one stream needs. */
type StreamSession = Pick<SessionStreams, "log" | "tag" | "primes" | "changed" | "missed"> & {
  readonly http: Pick<HttpDeps, "clock" | "keepAlive"> & { readonly bounds: { readonly stallMs: number } };
};

/** Options of a client that begins to read a stream. */
export interface ReadStreamOptions {
  /** Number of the last event that the client has. @default none: a new stream */
  readonly after?: number | undefined;
  /** Released when the client stops reading. */
  readonly permit?: Permit | undefined;
}

/** The tag and the number in the ids of a stream's events. */
export interface StreamOrigin {
  readonly tag: string;
  readonly stream: number;
}

/** A client that begins to read a stream. */
interface StreamReader extends ReadStreamOptions {
  readonly sink: EventSink;
  readonly caller: Caller;
}

/** Delay before a client connects again, in milliseconds. */
const retryMs = 1000;

/**
 * Notice to a client that has missed messages: the client reads again what it depends on. The session announces its subscriptions,
 * lists included, as well.
 */
export const missedNotice = '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}';

/**
 * One stream of a session: its messages, a run without gaps that is numbered from 1, and the client that reads them. Readers come
 * and go; each gets, in order, the messages that it does not have. Call {@link close} when done.
 */
export class EventStream {
  readonly number: number;
  readonly messages: KeptMessage[] = [];
  /** Number of the first message. */
  first = 1;
  /** Number of the last message that the present reader was sent. */
  sent = 0;
  /** Number of the last message that any reader was sent. */
  reached = 0;
  /** Whether no message follows. */
  isFinished = false;
  /** Starts each entry of the stream's log, which other replicas read. @default the stream has none */
  head: string | undefined;
  /** Lapses of this replica when it last appended to the log. */
  lapses = 0;
  /** Whether nothing is sent until the log has taken a message: another replica may have ended it. */
  isHeld = false;
  /** Time until which the log of the finished stream is kept in the store. */
  keptUntil = 0;
  readonly origin: StreamOrigin;
  /** Called when the reader has gone, is stalled, or its token has expired, and no other reader has replaced it. */
  onGone: (() => void) | undefined;
  readonly #session: StreamSession;
  #sink: EventSink | undefined;
  #permit: Permit | undefined;
  #stall: StallTimer | undefined;
  #stopExpiry: (() => void) | undefined;
  #isFlushing = false;

  /** @param origin - of a stream of another replica. @default the own tag and number */
  constructor(session: StreamSession, number: number, origin: StreamOrigin = { tag: session.tag, stream: number }) {
    this.#session = session;
    this.number = number;
    this.origin = origin;
  }

  /** Number of the last message. */
  get last(): number {
    return this.first + this.messages.length - 1;
  }

  /** Number of messages that no reader was sent. */
  get unsent(): number {
    return Math.min(this.messages.length, this.last - this.reached);
  }

  /** Returns whether a client reads the stream. */
  get isRead(): boolean {
    return this.#sink !== undefined;
  }

  /** Returns whether the reader is slow. */
  get isFull(): boolean {
    return this.#sink?.isFull ?? false;
  }

  /** Returns a message by its number; `undefined` if it was dropped or does not exist yet. */
  at(seq: number): KeptMessage | undefined {
    return this.messages[seq - this.first];
  }

  /** Takes the permit of the reader, for the reader that is about to replace it. */
  takePermit(): Permit | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    return permit;
  }

  /** Sets the reader. Drops the one before: the server may notice late that a client, which is back, had gone. */
  attach({ sink, after, caller, permit }: StreamReader): void {
    const { http, log, primes } = this.#session;
    const before = this.#detach();
    this.#sink = sink;
    this.#permit = permit;
    this.#stall = new StallTimer(http.clock, http.bounds.stallMs, () => {
      sink.destroy();
      this.lost(sink);
    });
    before?.destroy();
    const onDrain = (): void => this.#onDrain(sink);
    sink.onDrain = onDrain;
    http.keepAlive.join(sink);
    if (after === undefined && primes) {
      sink.write(`id: ${this.#idOf(this.sent)}\nretry: ${retryMs}\ndata: \n\n`);
    }
    // Without a number, the reader gets the messages that no reader was sent.
    if (after !== undefined) log.markSent(this, after);
    this.#stopExpiry = onTokenExpiry(http.clock, caller, () => {
      this.close();
      this.onGone?.();
    });
    this.flush();
    // The session may write something: after what the new reader has.
    this.#session.changed(this);
  }

  /** Sends the messages that the reader does not have, as far as there is room. */
  flush(): void {
    // The session may write something while it hears of a gap.
    if (this.#isFlushing || this.isHeld) return;
    this.#isFlushing = true;
    while (this.#sink?.isFull === false && this.sent < this.last) this.#sendNext(this.#sink);
    this.#isFlushing = false;
    if (this.#sink === undefined) return;
    if (this.isFull) this.#stall?.update(true);
    else if (this.isFinished) this.close();
  }

  /** Notes that the connection of a reader, which may have been replaced, is gone. */
  lost(sink: EventSink): void {
    if (this.#sink !== sink) return;
    this.#leave();
    this.onGone?.();
  }

  /** Ends the reader's response. The client may resume the stream. Callable twice. */
  close(): void {
    this.#leave()?.end();
  }

  #sendNext(sink: EventSink): void {
    const { log } = this.#session;
    const { first } = this;
    if (this.sent + 1 < first) {
      log.markSent(this, first - 1);
      // Under the id of a missing message.
      sink.write(toEvent(missedNotice, this.#idOf(this.sent)));
      return this.#session.missed(this);
    }
    const seq = this.sent + 1;
    const message = this.at(seq);
    log.markSent(this, seq);
    if (message === undefined || message.isWanted?.() === false) return;
    sink.write(toEvent(message.json, this.#idOf(seq)));
  }

  #idOf(seq: number): string {
    const { tag, stream } = this.origin;
    return toEventId(tag, { stream, seq });
  }

  #onDrain(sink: EventSink): void {
    if (this.#sink !== sink) return;
    this.#stall?.update(false);
    this.flush();
    this.#session.changed(this);
  }

  #leave(): EventSink | undefined {
    const sink = this.#detach();
    if (sink !== undefined) this.#session.changed(this);
    return sink;
  }

  #detach(): EventSink | undefined {
    const sink = this.#sink;
    if (sink === undefined) return undefined;
    this.#sink = undefined;
    this.#stall?.close();
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
    this.#session.http.keepAlive.leave(sink);
    this.takePermit()?.release();
    sink.onDrain = undefined;
    return sink;
  }
}

/** Dependencies and bounds of an {@link EventLog}. Bytes are those of JSON. */
export interface EventLogDeps {
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** Bound of the messages that were sent, except the last of them. */
  readonly maxSentBytes: number;
  /** Counts the logs of all sessions. */
  readonly budget: Budget;
  /** Owner of the session. */
  readonly caller: Caller;
  /** Called after a message of a stream was dropped. Must not throw. */
  readonly dropped?: (stream: EventStream) => void;
}

/**
 * The messages of one session's streams, for clients that have not read them yet or lost their connection. Bounded: sent messages
 * are dropped first, then waiting messages of the longest stream. So a flood on one stream costs no other stream a message, and least
 * of all the result of a call, which a client cannot request again. Call {@link clear} when done.
 */
export class EventLog {
  /** Streams that go on, are read, or have messages. Oldest first. */
  readonly streams: Map<number, EventStream> = new Map<number, EventStream>();
  readonly #deps: EventLogDeps;
  /** Opened with the first message: most sessions never have one. */
  #share: Share | undefined;
  #count = 0;
  #bytes = 0;
  #sent = 0;
  #sentBytes = 0;
  #opened = 0;
  #dropped = 0;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
  }

  /** Number of messages that were dropped before they were sent. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Number of messages. */
  get count(): number {
    return this.#count;
  }

  /** Opens a stream with the next number. @param origin - of a stream of another replica. */
  open(session: StreamSession, origin?: StreamOrigin): EventStream {
    const stream = new EventStream(session, this.#opened, origin);
    this.#opened += 1;
    this.streams.set(stream.number, stream);
    return stream;
  }

  /** Returns a stream by its number; `gone` if it has ended and no message of it is kept. */
  find(number: number): EventStream | "gone" | undefined {
    return this.streams.get(number) ?? (number < this.#opened ? "gone" : undefined);
  }

  /** Adds a message. The caller trims the log once the message had a chance to be sent. */
  add(stream: EventStream, { json, onDropped, isWanted }: LoggedMessage): void {
    const bytes = Buffer.byteLength(json);
    stream.messages.push({ json, onDropped, isWanted, bytes });
    this.#count += 1;
    this.#bytes += bytes;
    const { budget, caller } = this.#deps;
    this.#share ??= budget.open(budgetKeyOf(caller), (excess, what) => this.#evict(excess, what));
    this.#share.add(bytes);
    this.#share.touch();
  }

  /** Notes that the reader of a stream has all messages up to a number. */
  markSent(stream: EventStream, seq: number): void {
    stream.sent = seq;
    for (let each = Math.max(stream.reached + 1, stream.first); each <= seq; each += 1) {
      this.#sent += 1;
      this.#sentBytes += stream.at(each)?.bytes ?? 0;
    }
    stream.reached = Math.max(stream.reached, seq);
  }

  /** Forgets a stream if no message can come or is kept, and no client reads it. */
  forgetEmpty(stream: EventStream): void {
    if (stream.isFinished && stream.messages.length === 0 && !stream.isRead) this.streams.delete(stream.number);
  }

  /** Drops the messages of a stream, and goes on with a number. */
  skip(stream: EventStream, seq: number): void {
    while (stream.messages.length > 0) this.#dropFirst(stream);
    stream.first = seq;
  }

  /** Forgets a stream and its messages. Callable twice. */
  remove(stream: EventStream): void {
    this.skip(stream, stream.first);
    this.streams.delete(stream.number);
  }

  /** Drops messages beyond the bounds of one session. */
  trim(): void {
    const { maxMessages, maxBytes, maxSentBytes } = this.#deps;
    // The last message stays at any size: its reader may lose the connection just after it.
    while (this.#sent > 1 && this.#sentBytes > maxSentBytes) this.#dropOne();
    while (this.#count > 1 && (this.#count > maxMessages || this.#bytes > maxBytes)) this.#dropOne();
  }

  /** Drops everything. Callable twice. */
  clear(): void {
    while (this.#count > 0) this.#dropOne();
    this.streams.clear();
  }

  #evict(bytes: number, what: "spare" | "all"): void {
    const target = this.#bytes - bytes;
    while (this.#bytes > target && (what === "spare" ? this.#sent : this.#count) > 0) this.#dropOne();
  }

  /** Drops the first message of the first stream with a sent one, or of the stream with the most unsent ones. */
  #dropOne(): void {
    let victim: EventStream | undefined;
    for (const stream of this.streams.values()) {
      const hasSent = stream.unsent < stream.messages.length;
      if (hasSent || (this.#sent === 0 && stream.unsent > (victim?.unsent ?? 0))) victim = stream;
      if (hasSent) break;
    }
    if (victim !== undefined) this.#dropFirst(victim);
  }

  #dropFirst(stream: EventStream): void {
    const wasSent = stream.unsent < stream.messages.length;
    const message = stream.messages.shift();
    if (message === undefined) return;
    const { bytes } = message;
    stream.first += 1;
    this.#count -= 1;
    this.#bytes -= bytes;
    this.#share?.release(bytes);
    this.forgetEmpty(stream);
    this.#deps.dropped?.(stream);
    if (wasSent) {
      this.#sent -= 1;
      this.#sentBytes -= bytes;
      return;
    }
    this.#dropped += 1;
    message.onDropped?.();
  }
}
