import type { Caller } from "../../surface/caller.ts";
import type { Clock } from "../../spine/clock.ts";
import type { Place } from "../admission.ts";
import { atExpiry } from "../at-expiry.ts";
import type { KeepAlive } from "../keep-alive.ts";
import type { EventSink } from "../message.ts";
import { toEvent } from "../sse.ts";
import { toEventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";
import type { KeptStream } from "./kept-stream.ts";

/** What all streams of one session share. */
export interface StreamShared {
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  /** Keeps what they are sent. */
  readonly log: EventLog;
  /** How long a client may leave a stream unread. */
  readonly stallMs: number;
  /** What marks the session's events. */
  readonly tag: string;
  /** Whether the client understands an event without data, which gives it an id to resume from. */
  readonly primes: boolean;
}

/** Who reads a stream from now on. */
export interface Reader {
  readonly sink: EventSink;
  /** The last event that they have; `undefined`: they begin. */
  readonly after: number | undefined;
  readonly caller: Caller;
  /** Let go when they do not read it any more. */
  readonly place?: Place | undefined;
  /** Told once, when they do not read it any more. */
  readonly onLeft: () => void;
}

/** How long a client is asked to wait before it connects again, in milliseconds. */
const retryMs = 1000;

/**
 * One stream of a session: what is kept of it, and who reads it now. Readers come and go; each is sent what follows what
 * they have, in order. Whoever made it closes it.
 */
export class EventStream {
  readonly kept: KeptStream;
  readonly #shared: StreamShared;
  #reader: Reader | undefined;
  #place: Place | undefined;
  #stopStallTimer: (() => void) | undefined;
  #stopExpiryTimer: (() => void) | undefined;
  #isPumping = false;
  /** Told when the reader has caught up again after being slow, and when there is none any more. */
  onChange: (() => void) | undefined;
  /** Told when who reads it has gone, does not read, or is nobody any more, and nobody reads in their place. */
  onGone: (() => void) | undefined;
  /** Told when a reader was sent what is left where messages in between are not kept any more. */
  onGap: (() => void) | undefined;

  constructor(shared: StreamShared, kept: KeptStream) {
    this.#shared = shared;
    this.kept = kept;
  }

  /** Whether somebody reads it. */
  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  /** Whether its reader is slow. */
  get isFull(): boolean {
    return this.#reader?.sink.isFull ?? false;
  }

  /** Takes over the place of who reads it, for who is about to read it instead. */
  takePlace(): Place | undefined {
    const place = this.#place;
    this.#place = undefined;
    return place;
  }

  /** Has somebody read it; who did before is dropped, since a client that is back may be found out later to have gone. */
  attach(reader: Reader): void {
    const before = this.#detach();
    this.#reader = reader;
    before?.sink.destroy();
    const { sink, after } = reader;
    this.#place = reader.place;
    const { keepAlive, primes, tag } = this.#shared;
    sink.onDrain = () => this.#onDrain(sink);
    keepAlive.join(sink);
    if (after === undefined && primes) {
      const id = toEventId(tag, { stream: this.kept.number, seq: this.kept.sent });
      sink.write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
    }
    // Who begins hears of what nobody was sent yet.
    if (after !== undefined) this.#shared.log.markSent(this.kept, after);
    // Whoever listens on then must show a newer token.
    this.#stopExpiryTimer = atExpiry(this.#shared.clock, reader.caller, () => {
      this.close();
      this.onGone?.();
    });
    // Told only now: who is told may say more, which comes behind what the new one has, and the stream itself goes on.
    if (before !== undefined) this.#tellLeft(before);
    this.flush();
  }

  /** Sends what there is, as far as there is room. */
  flush(): void {
    // What is told of a gap may write.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { kept } = this;
    while (this.#reader !== undefined && !this.#reader.sink.isFull && kept.sent < kept.last)
      this.#sendNext(this.#reader.sink);
    this.#isPumping = false;
    const reader = this.#reader;
    if (reader === undefined) return;
    if (reader.sink.isFull) this.#watchStall(reader.sink);
    else if (kept.isFinished) this.close();
  }

  /** The connection of a reader is gone, or another one has taken its place already. */
  lost(sink: EventSink): void {
    if (this.#reader?.sink !== sink) return;
    this.#leave();
    this.onGone?.();
  }

  /** Ends the stream of whoever reads it, who may come back. Callable twice. */
  close(): void {
    this.#leave()?.sink.end();
  }

  #sendNext(sink: EventSink): void {
    const { kept } = this;
    const { tag, log } = this.#shared;
    if (kept.sent + 1 < kept.first) {
      log.markSent(kept, kept.first - 1);
      // Under the id of one that is missing.
      sink.write(toEvent(missedNotice, toEventId(tag, { stream: kept.number, seq: kept.sent })));
      this.onGap?.();
      return;
    }
    const seq = kept.sent + 1;
    const message = kept.at(seq);
    log.markSent(kept, seq);
    if (message === undefined || message.isWanted?.() === false) return;
    sink.write(toEvent(message.json, toEventId(tag, { stream: kept.number, seq })));
  }

  #onDrain(sink: EventSink): void {
    if (this.#reader?.sink !== sink) return;
    this.#stopStall();
    this.flush();
    this.onChange?.();
  }

  #watchStall(sink: EventSink): void {
    this.#stopStallTimer ??= this.#shared.clock.after(this.#shared.stallMs, () => {
      sink.destroy();
      this.lost(sink);
    });
  }

  #stopStall(): void {
    this.#stopStallTimer?.();
    this.#stopStallTimer = undefined;
  }

  #leave(): Reader | undefined {
    const reader = this.#detach();
    return reader && this.#tellLeft(reader);
  }

  #tellLeft(reader: Reader): Reader {
    reader.onLeft();
    this.onChange?.();
    return reader;
  }

  #detach(): Reader | undefined {
    const reader = this.#reader;
    if (reader === undefined) return undefined;
    this.#reader = undefined;
    this.#stopStall();
    this.#stopExpiryTimer?.();
    this.#stopExpiryTimer = undefined;
    this.#shared.keepAlive.leave(reader.sink);
    this.takePlace()?.release();
    reader.sink.onDrain = undefined;
    return reader;
  }
}

/**
 * What a client is told that has missed something: it reads again what it counts on. What is watched for it, lists that can change
 * among it, is announced besides.
 */
export const missedNotice = '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}';
