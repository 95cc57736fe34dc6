import type { Clock } from "../spine/clock.ts";
import type { EventSink } from "./message.ts";

/** Headers of a stream of events. `x-accel-buffering` keeps proxies from holding events back. */
export const eventStreamHeaders: Readonly<Record<string, string>> = Object.freeze({
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

/** A comment: keeps a quiet connection from being taken for a dead one. */
export const keepAliveComment = ": keep-alive\n\n";

/** Writes one JSON-RPC message as an event. JSON text has no raw line breaks, so one line of data holds it. */
export function toEvent(json: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${json}\n\n` : `id: ${id}\nevent: message\ndata: ${json}\n\n`;
}

/** Creates a stream for a reply that was answered before: it ignores everything, and leaves the connection open. */
export function createDeadSink(): EventSink {
  return { isFull: false, onDrain: undefined, write() {}, end() {}, destroy() {} };
}

/** Writes a comment to every open stream in intervals, with one timer for all of them. Call {@link close} when done. */
export class KeepAlive {
  readonly #sinks = new Set<EventSink>();
  readonly #clock: Clock;
  readonly #everyMs: number;
  #stop: (() => void) | undefined;

  /** @param everyMs - 0: never. */
  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Keeps a stream alive until {@link leave}. */
  join(sink: EventSink): void {
    this.#sinks.add(sink);
    this.#arm();
  }

  /** Writes nothing more to a stream. Callable twice. */
  leave(sink: EventSink): void {
    this.#sinks.delete(sink);
    if (this.#sinks.size === 0) this.close();
  }

  /** Stops. Callable twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #arm(): void {
    if (this.#everyMs === 0 || this.#sinks.size === 0) return;
    this.#stop ??= this.#clock.after(this.#everyMs, () => {
      this.#stop = undefined;
      // A comment behind unread events would only add to them.
      for (const sink of this.#sinks) if (!sink.isFull) sink.write(keepAliveComment);
      this.#arm();
    });
  }
}

/** Calls a function when a stream was full for too long. Has a timer only while the stream is full. Call {@link close} when done. */
export class StallTimer {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #onStalled: () => void;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, afterMs: number, onStalled: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#onStalled = onStalled;
  }

  /** Starts the time with the first `true`, and stops it with `false`. */
  update(isFull: boolean): void {
    if (!isFull) this.close();
    else this.#stop ??= this.#clock.after(this.#afterMs, this.#onStalled);
  }

  /** Stops. Callable twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
