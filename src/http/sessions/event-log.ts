import type { Budget, Share } from "../../spine/budget.ts";
import type { Caller } from "../../surface/caller.ts";
import { budgetKeyOf } from "../admission.ts";

/** Position of an event among those of a session. */
export interface EventPlace {
  /** Number of the stream. */
  readonly stream: number;
  /** Number within the stream, from 1; 0 stands before the first event, infinity behind the last. */
  readonly seq: number;
}

const eventId = /^([0-9a-f]{12})\.(0|[1-9][0-9]{0,14})\.(0|[1-9][0-9]{0,14}|end)$/;

/** Creates the tag in the ids of one session's events. It says nothing about the session's own id, which is a secret. */
export function mintTag(): string {
  return crypto.randomUUID().slice(-12);
}

/** Writes the id of an event. */
export function toEventId(tag: string, { stream, seq }: EventPlace): string {
  return `${tag}.${stream}.${Number.isFinite(seq) ? seq : "end"}`;
}

/** Reads the id of an event; `undefined` for an id of another session. */
export function readEventId(tag: string, id: string): EventPlace | undefined {
  const [, ofTag, stream, seq] = eventId.exec(id) ?? [];
  if (ofTag !== tag) return undefined;
  return { stream: Number(stream), seq: seq === "end" ? Infinity : Number(seq) };
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

/** The messages of one stream that are kept: a run without gaps, numbered from 1. The oldest are dropped first. */
export class EventQueue {
  readonly number: number;
  readonly messages: KeptMessage[] = [];
  /** Number of the first message. */
  first = 1;
  /** Number of the last message that the present reader was sent. */
  sent = 0;
  /** Number of the last message that any reader was sent. */
  reached = 0;
  /** Whether nothing follows. */
  isFinished = false;
  /** Whether a client reads the stream. */
  isRead = false;

  constructor(number: number) {
    this.number = number;
  }

  /** Number of the last message. */
  get last(): number {
    return this.first + this.messages.length - 1;
  }

  /** Number of messages that no reader was sent. */
  get unsent(): number {
    return Math.min(this.messages.length, this.last - this.reached);
  }

  /** Returns a message by its number; `undefined` if it was dropped or does not exist yet. */
  at(seq: number): KeptMessage | undefined {
    return this.messages[seq - this.first];
  }
}

/** Dependencies and bounds of an {@link EventLog}. Bytes are those of JSON. */
export interface EventLogDeps {
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** For the messages that were sent, except the last of them. */
  readonly maxSentBytes: number;
  /** Counts the logs of all sessions. */
  readonly budget: Budget;
  /** Owner of the session. */
  readonly caller: Caller;
}

/**
 * The messages of one session's streams, for clients that have not read them yet or lost their connection. Bounded: sent messages
 * are dropped first, then waiting messages of the longest stream. So a flood on one stream costs no other stream a message, and least
 * of all the result of a call, which a client cannot request again. Call {@link clear} when done.
 */
export class EventLog<TStream extends EventQueue> {
  /** Streams that go on, are read, or have messages. Oldest first. */
  readonly streams: Map<number, TStream> = new Map<number, TStream>();
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

  /** Opens a stream with the next number. */
  open(create: (number: number) => TStream): TStream {
    const stream = create(this.#opened);
    this.#opened += 1;
    this.streams.set(stream.number, stream);
    return stream;
  }

  /** Returns a stream by its number; `gone` if it has ended and no message of it is kept. */
  find(number: number): TStream | "gone" | undefined {
    return this.streams.get(number) ?? (number < this.#opened ? "gone" : undefined);
  }

  /** Adds a message. The caller trims the log once the message had a chance to be sent. */
  add(stream: TStream, { json, onDropped, isWanted }: LoggedMessage): void {
    const bytes = Buffer.byteLength(json);
    stream.messages.push({ json, onDropped, isWanted, bytes });
    this.#count += 1;
    this.#bytes += bytes;
    const { budget, caller } = this.#deps;
    this.#share ??= budget.open(budgetKeyOf(caller, undefined), (excess, what) => this.#evict(excess, what));
    this.#share.add(bytes);
    this.#share.touch();
  }

  /** Notes that the reader of a stream has all messages up to a number. */
  markSent(stream: TStream, seq: number): void {
    stream.sent = seq;
    for (let each = Math.max(stream.reached + 1, stream.first); each <= seq; each += 1) {
      this.#sent += 1;
      this.#sentBytes += stream.at(each)?.bytes ?? 0;
    }
    stream.reached = Math.max(stream.reached, seq);
  }

  /** Forgets a stream if no message can come or is kept, and no client reads it. */
  forgetEmpty(stream: TStream): void {
    if (stream.isFinished && stream.messages.length === 0 && !stream.isRead) this.streams.delete(stream.number);
  }

  /** Drops messages beyond the bounds of one session. */
  trim(): void {
    const { maxMessages, maxBytes, maxSentBytes } = this.#deps;
    // The last one stays, whatever its size: its reader may lose the connection right behind it.
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

  #dropOne(): void {
    let victim: TStream | undefined;
    for (const stream of this.streams.values()) {
      const hasSent = stream.unsent < stream.messages.length;
      if (hasSent || (this.#sent === 0 && stream.unsent > (victim?.unsent ?? 0))) victim = stream;
      if (hasSent) break;
    }
    if (victim !== undefined) this.#dropFirst(victim);
  }

  #dropFirst(stream: TStream): void {
    const wasSent = stream.unsent < stream.messages.length;
    const message = stream.messages.shift();
    if (message === undefined) return;
    const { bytes } = message;
    stream.first += 1;
    this.#count -= 1;
    this.#bytes -= bytes;
    this.#share?.release(bytes);
    this.forgetEmpty(stream);
    if (wasSent) {
      this.#sent -= 1;
      this.#sentBytes -= bytes;
      return;
    }
    this.#dropped += 1;
    message.onDropped?.();
  }
}
