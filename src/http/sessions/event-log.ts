import type { Budget, Share } from "../../spine/budget.ts";
import { KeptStream, type KeptMessage, type LoggedMessage } from "./kept-stream.ts";

/** How much one session keeps, in messages and in bytes of JSON. */
export interface EventLogBounds {
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** Of what somebody was sent already, besides the last of it. */
  readonly maxSentBytes: number;
}

/** What a log is made of. */
export interface EventLogSetting {
  readonly bounds: EventLogBounds;
  /** What the logs of all sessions may keep together. */
  readonly budget: Budget;
  /** Whose it is; `undefined`: of somebody of whom nothing is known. */
  readonly owner: string | undefined;
}

/**
 * The messages of one session's streams, for who has not read them yet and who lost the connection they were read from.
 * Bounded: what somebody was sent goes first; then what waits, oldest first; then results of calls, since nobody can ask
 * for them again; those that wait have half of the room at most. Whoever made it clears it.
 */
export class EventLog {
  readonly #bounds: EventLogBounds;
  readonly #share: Share;
  readonly #streams = new Map<number, KeptStream>();
  /** What somebody was sent, in the order in which they were. Of each stream those are the first that are kept. */
  readonly #sent = new Set<KeptMessage>();
  /** What nobody was sent and is no result, oldest first. */
  readonly #waiting = new Set<KeptMessage>();
  /** The results that nobody was sent, oldest first. */
  readonly #results = new Set<KeptMessage>();
  #bytes = 0;
  #sentBytes = 0;
  #opened = 0;
  #dropped = 0;

  constructor({ bounds, budget, owner }: EventLogSetting) {
    this.#bounds = bounds;
    this.#share = budget.open(owner, (excess, what) => this.#letGo(excess, what));
  }

  /** How many messages were thrown away before anybody was sent them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** How many messages are kept. */
  get count(): number {
    return this.#sent.size + this.#waiting.size + this.#results.size;
  }

  /** Opens a stream. */
  open(): KeptStream {
    const stream = new KeptStream(this.#opened);
    this.#opened += 1;
    this.#streams.set(stream.number, stream);
    return stream;
  }

  /** A stream by its number; `gone`: it has ended, and nothing of it is kept. */
  find(number: number): KeptStream | "gone" | undefined {
    return this.#streams.get(number) ?? (number < this.#opened ? "gone" : undefined);
  }

  /** Keeps a message, until {@link trim} finds it too much. */
  add(stream: KeptStream, message: LoggedMessage): void {
    this.#waiting.add(this.#append(stream, message));
  }

  /** Keeps the result of the call that a stream is open for; nothing follows it. */
  addResult(stream: KeptStream, json: string): void {
    this.#results.add(this.#append(stream, { json }));
    stream.isFinished = true;
  }

  /** Who reads a stream now has what it was told up to a number, or was sent it. */
  markSent(stream: KeptStream, seq: number): void {
    stream.sent = seq;
    for (let each = Math.max(stream.reached + 1, stream.first); each <= seq; each += 1) {
      const message = stream.at(each);
      if (message === undefined) break;
      this.#waiting.delete(message);
      this.#results.delete(message);
      this.#sent.add(message);
      this.#sentBytes += message.bytes;
    }
    stream.reached = Math.max(stream.reached, seq);
  }

  /** Nothing follows on a stream. */
  finish(stream: KeptStream): void {
    stream.isFinished = true;
    this.#forgetEmpty(stream);
  }

  /** Throws away what is too much for one session. */
  trim(): void {
    const { maxMessages, maxBytes, maxSentBytes } = this.#bounds;
    // One stays, whatever its size: whoever loses the connection right behind it can still have it.
    while (this.#sent.size > 1 && this.#sentBytes > maxSentBytes) this.#dropOne();
    while (this.count > 1 && (this.count > maxMessages || this.#bytes > maxBytes)) this.#dropOne();
  }

  /** Throws everything away. Callable twice. */
  clear(): void {
    while (this.count > 0) this.#dropOne();
    this.#streams.clear();
  }

  /** What somebody was sent is kept for lost connections alone. */
  #letGo(bytes: number, what: "spare" | "all"): void {
    const before = this.#bytes;
    while (before - this.#bytes < bytes && (what === "spare" ? this.#sent.size : this.count) > 0) this.#dropOne();
  }

  #append(stream: KeptStream, { json, onDropped, isWanted }: LoggedMessage): KeptMessage {
    const message: KeptMessage = { stream, json, onDropped, isWanted, bytes: Buffer.byteLength(json) };
    stream.messages.push(message);
    this.#bytes += message.bytes;
    this.#share.add(message.bytes);
    this.#share.touch();
    return message;
  }

  /** As long as anything is kept that was sent, that goes: so it is always the first of its stream. */
  #dropOne(): void {
    const [sent] = this.#sent;
    if (sent !== undefined) return this.#dropFirst(sent.stream);
    const isResult = this.#waiting.size === 0 || this.#results.size > Math.max(1, this.#bounds.maxMessages / 2);
    const [message] = isResult ? this.#results : this.#waiting;
    if (message === undefined) return;
    const { stream } = message;
    // What came before a result that is gone is of no use to anybody.
    for (let left = isResult ? stream.messages.length : 1; left > 0; left -= 1) this.#dropFirst(stream);
  }

  #dropFirst(stream: KeptStream): void {
    const message = stream.messages.shift();
    if (message === undefined) return;
    stream.first += 1;
    this.#forget(message);
    this.#forgetEmpty(stream);
  }

  #forget(message: KeptMessage): void {
    this.#bytes -= message.bytes;
    this.#share.release(message.bytes);
    if (this.#sent.delete(message)) {
      this.#sentBytes -= message.bytes;
      return;
    }
    this.#waiting.delete(message);
    this.#results.delete(message);
    this.#dropped += 1;
    message.onDropped?.();
  }

  #forgetEmpty(stream: KeptStream): void {
    if (stream.isFinished && stream.messages.length === 0) this.#streams.delete(stream.number);
  }
}
