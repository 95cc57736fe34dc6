import type { Clock } from "../spine/clock.ts";
import type { EventSink } from "./message.ts";
import { keepAliveComment } from "./sse.ts";

/** Writes a comment to every open stream from time to time, with one timer for all of them. Its maker closes it. */
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

  /** Keeps a stream alive until it is left. */
  join(sink: EventSink): void {
    this.#sinks.add(sink);
    this.#arm();
  }

  /** Leaves a stream alone. Callable twice. */
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
      // A comment behind others that are not read would only add to them.
      for (const sink of this.#sinks) if (!sink.isFull) sink.write(keepAliveComment);
      this.#arm();
    });
  }
}
