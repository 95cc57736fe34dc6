import type { Budget, Share } from "../../spine/budget.ts";
import type { Caller } from "../../surface/caller.ts";
import { budgetKeyOf } from "../budgets.ts";

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
  /** Size of the JSON. */
  readonly bytes: number;
}

/** The messages of one stream that are kept: a run without gaps, numbered from 1. The oldest are dropped first. */
export class EventQueue {
  readonly number: number;
  /** The first has the number {@link first}. */
  readonly messages: KeptMessage[] = [];
  first = 1;
  /** Number of the last message that the present reader was sent. */
  sent = 0;
  /** Number of the last message that any reader was sent. */
  reached = 0;
  /** Whether nothing follows. */
  isFinished = false;
  /** Whether the last message is the result of a call. */
  hasResult = false;
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

  /** Whether the result of the call was not sent yet. */
  get owesResult(): boolean {
    return this.hasResult && this.unsent > 0;
  }

  /** Returns a message by its number; `undefined` if it was dropped or does not exist yet. */
  at(seq: number): KeptMessage | undefined {
    return this.messages[seq - this.first];
  }
}

/** Dependencies and bounds of an {@link EventLog}. */
export interface EventLogDeps {
  readonly maxMessages: number;
  /** For all messages together, in bytes of JSON. */
  readonly maxBytes: number;
  /** For the messages that were sent, except the last of them. */
  readonly maxSentBytes: number;
  /** Counts the logs of all sessions. */
  readonly budget: Budget;
  /** Owner of the session. */
  readonly caller: Caller;
}

/**
 * The messages of one session's streams, for clients that have not read them yet or lost their connection. Bounded. Sent messages
 * are dropped first, then waiting messages of the stream with most of them, then results, which a client cannot request again.
 * Waiting results get half of the room. Call {@link clear} when done.
 */
export class EventLog<TStream extends EventQueue> {
  /** Streams that go on, are read, or have messages. Oldest first. */
  readonly streams: Map<number, TStream> = new Map<number, TStream>();
  readonly #deps: EventLogDeps;
  /** Opened with the first message: most sessions never have one. */
  #share: Share | undefined;
  #count = 0;
  #sent = 0;
  /** Number of results that were not sent. */
  #results = 0;
  #bytes = 0;
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

  /** Adds the result of a call, the last message of its stream. */
  addResult(stream: TStream, json: string): void {
    stream.hasResult = true;
    this.#results += 1;
    this.add(stream, { json });
    stream.isFinished = true;
  }

  /** Notes that the reader of a stream has all messages up to a number. */
  markSent(stream: TStream, seq: number): void {
    const owedResult = stream.owesResult;
    stream.sent = seq;
    for (let each = Math.max(stream.reached + 1, stream.first); each <= seq; each += 1) {
      this.#sent += 1;
      this.#sentBytes += stream.at(each)?.bytes ?? 0;
    }
    stream.reached = Math.max(stream.reached, seq);
    if (owedResult && !stream.owesResult) this.#results -= 1;
  }

  /** Notes that nothing follows on a stream. */
  finish(stream: TStream): void {
    stream.isFinished = true;
    this.forgetEmpty(stream);
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
    for (const stream of this.streams.values()) this.#dropAll(stream);
    this.streams.clear();
  }

  #evict(bytes: number, what: "spare" | "all"): void {
    const before = this.#bytes;
    while (before - this.#bytes < bytes && (what === "spare" ? this.#sent : this.#count) > 0) this.#dropOne();
  }

  #dropOne(): void {
    const waiting = this.#count - this.#sent - this.#results;
    const isResult = waiting === 0 || this.#results > Math.max(1, this.#deps.maxMessages / 2);
    if (this.#sent > 0) this.#dropFirst(this.#find((stream) => stream.unsent < stream.messages.length));
    else if (!isResult) this.#dropFirst(this.#longest());
    // Messages before a lost result are useless.
    else this.#dropAll(this.#find(({ owesResult }) => owesResult));
  }

  #dropAll(stream: TStream | undefined): void {
    for (let left = stream?.messages.length ?? 0; left > 0; left -= 1) this.#dropFirst(stream);
  }

  #find(isMeant: (stream: TStream) => boolean): TStream | undefined {
    for (const stream of this.streams.values()) if (isMeant(stream)) return stream;
    return undefined;
  }

  /** Returns the stream with most waiting messages besides a result, so that none is lost to another stream's flood. */
  #longest(): TStream | undefined {
    let longest: TStream | undefined;
    let most = 0;
    for (const stream of this.streams.values()) {
      const waiting = stream.unsent - (stream.owesResult ? 1 : 0);
      if (waiting > most) [longest, most] = [stream, waiting];
    }
    return longest;
  }

  /** Drops the first message of a stream: a sent one if there is any, since those stand first. */
  #dropFirst(stream: TStream | undefined): void {
    if (stream === undefined) return;
    const { unsent, owesResult } = stream;
    const isUnsent = unsent === stream.messages.length;
    const message = stream.messages.shift();
    if (message === undefined) return;
    stream.first += 1;
    this.#count -= 1;
    this.#bytes -= message.bytes;
    this.#share?.release(message.bytes);
    if (owesResult && unsent === 1 && isUnsent) this.#results -= 1;
    this.forgetEmpty(stream);
    if (!isUnsent) {
      this.#sent -= 1;
      this.#sentBytes -= message.bytes;
      return;
    }
    this.#dropped += 1;
    message.onDropped?.();
  }
}
