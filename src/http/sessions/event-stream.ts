import type { Caller } from "../../surface/caller.ts";
import type { Place } from "../admission.ts";
import { atExpiry } from "../at-expiry.ts";
import type { EventSink } from "../message.ts";
import type { HttpSetting } from "../setting.ts";
import { toEvent } from "../sse.ts";
import { EventQueue, toEventId, type EventLog } from "./event-log.ts";

/** The session that a stream belongs to. */
export interface StreamOwner {
  readonly http: Pick<HttpSetting, "clock" | "keepAlive"> & { readonly bounds: { readonly stallMs: number } };
  readonly log: EventLog<EventStream>;
  /** Tag in the ids of the session's events. */
  readonly tag: string;
  /** Whether the client understands an event without data, which gives it an id to resume from. */
  readonly primes: boolean;
  /** Called when a reader has come, left, or caught up. */
  changed(stream: EventStream): void;
  /** Called when a reader was told that messages are missing. */
  missed(stream: EventStream): void;
}

/** A client that begins to read a stream. */
export interface Reader {
  readonly sink: EventSink;
  /** Number of the last event that it has; `undefined`: it begins. */
  readonly after: number | undefined;
  readonly caller: Caller;
  /** Released when the client reads no more. */
  readonly place?: Place | undefined;
}

/** Delay before a client connects again, in milliseconds. */
const retryMs = 1000;

/**
 * Notice to a client that has missed messages: the client reads again what it depends on. The session announces its subscriptions,
 * lists included, as well.
 */
export const missedNotice = '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}';

/**
 * One stream of a session: its messages, and the client that reads them. Readers come and go; each is sent, in order, the messages
 * that it does not have. Call {@link close} when done.
 */
export class EventStream extends EventQueue {
  readonly #owner: StreamOwner;
  #sink: EventSink | undefined;
  #place: Place | undefined;
  #stopStall: (() => void) | undefined;
  #stopExpiry: (() => void) | undefined;
  #isPumping = false;
  /** Called when the reader has gone, is stalled, or its token has expired, and no other has taken its place. */
  onGone: (() => void) | undefined;

  constructor(owner: StreamOwner, number: number) {
    super(number);
    this.#owner = owner;
  }

  /** Whether the reader is slow. */
  get isFull(): boolean {
    return this.#sink?.isFull ?? false;
  }

  /** Takes the place of the reader, for the reader that is about to replace it. */
  takePlace(): Place | undefined {
    const place = this.#place;
    this.#place = undefined;
    return place;
  }

  /** Sets the reader. Drops the one before: the server may find out late that a client, which is back, had gone. */
  attach({ sink, after, caller, place }: Reader): void {
    const { http, log, primes, tag } = this.#owner;
    const before = this.#detach();
    this.#sink = sink;
    this.#place = place;
    this.isRead = true;
    before?.destroy();
    const onDrain = (): void => this.#onDrain(sink);
    sink.onDrain = onDrain;
    http.keepAlive.join(sink);
    if (after === undefined && primes) {
      const id = toEventId(tag, { stream: this.number, seq: this.sent });
      sink.write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
    }
    // A reader that begins gets what no reader was sent yet.
    if (after !== undefined) log.markSent(this, after);
    this.#stopExpiry = atExpiry(http.clock, caller, () => {
      this.close();
      this.onGone?.();
    });
    this.flush();
    // The owner may write something: behind what the new reader has.
    this.#owner.changed(this);
  }

  /** Sends the messages that the reader does not have, as far as there is room. */
  flush(): void {
    // The owner may write something while it hears of a gap.
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#sink?.isFull === false && this.sent < this.last) this.#sendNext(this.#sink);
    this.#isPumping = false;
    const sink = this.#sink;
    if (sink === undefined) return;
    if (sink.isFull) this.#watchStall(sink);
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
    const { log, tag } = this.#owner;
    const { number: stream, first } = this;
    if (this.sent + 1 < first) {
      log.markSent(this, first - 1);
      // Under the id of a missing message.
      sink.write(toEvent(missedNotice, toEventId(tag, { stream, seq: this.sent })));
      return this.#owner.missed(this);
    }
    const seq = this.sent + 1;
    const message = this.at(seq);
    log.markSent(this, seq);
    if (message === undefined || message.isWanted?.() === false) return;
    sink.write(toEvent(message.json, toEventId(tag, { stream, seq })));
  }

  #onDrain(sink: EventSink): void {
    if (this.#sink !== sink) return;
    this.#endStall();
    this.flush();
    this.#owner.changed(this);
  }

  #watchStall(sink: EventSink): void {
    const { clock, bounds } = this.#owner.http;
    this.#stopStall ??= clock.after(bounds.stallMs, () => {
      sink.destroy();
      this.lost(sink);
    });
  }

  #endStall(): void {
    this.#stopStall?.();
    this.#stopStall = undefined;
  }

  #leave(): EventSink | undefined {
    const sink = this.#detach();
    if (sink !== undefined) this.#owner.changed(this);
    return sink;
  }

  #detach(): EventSink | undefined {
    const sink = this.#sink;
    if (sink === undefined) return undefined;
    this.#sink = undefined;
    this.isRead = false;
    this.#endStall();
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
    this.#owner.http.keepAlive.leave(sink);
    this.takePlace()?.release();
    sink.onDrain = undefined;
    return sink;
  }
}
