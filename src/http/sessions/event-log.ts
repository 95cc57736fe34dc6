/** How much one session keeps. */
export interface EventLogBounds {
  readonly maxMessages: number;
  /** In characters of JSON. */
  readonly maxSize: number;
}

/** A message of ours that is to be kept. */
export interface LoggedMessage {
  readonly json: string;
  /** Told where it is thrown away before anybody was sent it. */
  readonly onDropped?: (() => void) | undefined;
}

/**
 * What is kept of one stream: a run of messages without a gap, numbered from 1. The oldest go first, so whoever knows the
 * number of the first knows what is missing.
 */
export class KeptStream {
  readonly number: number;
  /** The messages, of which the first has the number {@link first}. */
  readonly messages: string[] = [];
  first = 1;
  /** The last that anybody was sent. */
  sent = 0;
  /** Nothing follows any more. */
  isFinished = false;
  /** Who is told that a message was thrown away unsent; there are few. */
  onDropped: Map<number, () => void> | undefined;

  constructor(number: number) {
    this.number = number;
  }

  /** The number of the last message. */
  get last(): number {
    return this.first + this.messages.length - 1;
  }

  /** A message by its number; `undefined` where it is not kept any more, or not there yet. */
  at(seq: number): string | undefined {
    return this.messages[seq - this.first];
  }
}

/**
 * The messages of one session's streams, for who has not read them yet and who lost the connection they were read from.
 * Bounded: the oldest go first, results of calls last, since nobody can ask for them again; those keep half of the room
 * at most.
 */
export class EventLog {
  readonly #bounds: EventLogBounds;
  readonly #streams = new Map<number, KeptStream>();
  /** The stream of each message that is no result, oldest first. */
  readonly #order: KeptStream[] = [];
  /** The streams whose result is kept, oldest first. */
  readonly #results: KeptStream[] = [];
  #size = 0;
  #opened = 0;
  #dropped = 0;

  constructor(bounds: EventLogBounds) {
    this.#bounds = bounds;
  }

  /** How many messages were thrown away before anybody was sent them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** How many messages are kept. */
  get count(): number {
    return this.#order.length + this.#results.length;
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
  add(stream: KeptStream, { json, onDropped }: LoggedMessage): void {
    this.#append(stream, json);
    if (onDropped !== undefined) (stream.onDropped ??= new Map()).set(stream.last, onDropped);
    this.#order.push(stream);
  }

  /** Keeps the result of the call that a stream is open for; nothing follows it. */
  addResult(stream: KeptStream, json: string): void {
    this.#append(stream, json);
    stream.isFinished = true;
    this.#results.push(stream);
  }

  /** Nothing follows on a stream. */
  finish(stream: KeptStream): void {
    stream.isFinished = true;
    this.#forgetEmpty(stream);
  }

  /** Throws away what is too much. */
  trim(): void {
    const { maxMessages, maxSize } = this.#bounds;
    // One stays, whatever its size: what is larger than all of the room is to be sent, too.
    while (this.count > 1 && (this.count > maxMessages || this.#size > maxSize)) this.#dropOne();
  }

  /** Throws everything away. */
  clear(): void {
    while (this.count > 0) this.#dropOne();
    this.#streams.clear();
  }

  #append(stream: KeptStream, json: string): void {
    stream.messages.push(json);
    this.#size += json.length;
  }

  #dropOne(): void {
    const isResult = this.#order.length === 0 || this.#results.length > Math.max(1, this.#bounds.maxMessages / 2);
    const stream = isResult ? this.#results.shift() : this.#order.shift();
    if (stream === undefined) return;
    if (isResult) this.#dropWhole(stream);
    else this.#dropFirst(stream);
    this.#forgetEmpty(stream);
  }

  /** What came before a result that is gone is of no use to anybody. */
  #dropWhole(stream: KeptStream): void {
    const before = stream.messages.length - 1;
    while (stream.messages.length > 0) this.#dropFirst(stream);
    if (before === 0) return;
    const others = this.#order.filter((other) => other !== stream);
    this.#order.splice(0, Infinity, ...others);
  }

  #dropFirst(stream: KeptStream): void {
    const json = stream.messages.shift();
    const seq = stream.first;
    stream.first += 1;
    this.#size -= json?.length ?? 0;
    const tell = stream.onDropped?.get(seq);
    stream.onDropped?.delete(seq);
    if (seq <= stream.sent) return;
    this.#dropped += 1;
    tell?.();
  }

  #forgetEmpty(stream: KeptStream): void {
    if (stream.isFinished && stream.messages.length === 0) this.#streams.delete(stream.number);
  }
}
