import { SurfaceError } from "../../errors.ts";
import type { EventSink } from "../message.ts";

const encoder = new TextEncoder();

/** How many bytes may wait to be read until the stream counts as full. */
const highWaterMark = 64 * 1024;

function dropped(): SurfaceError {
  return new SurfaceError("CLOSED", "Writing events: the stream was dropped");
}

/** What whoever made the stream is told. */
export interface WebSinkEvents {
  /** This side has ended it. */
  over(): void;
  /** The other side does not want it any more. */
  cancelled(): void;
}

/** A stream of events as the web's own object. */
export class WebEventSink implements EventSink {
  onDrain: (() => void) | undefined;
  /** What is answered with. */
  readonly readable: ReadableStream<Uint8Array>;
  readonly #events: WebSinkEvents;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isFull = false;
  #isOver = false;

  constructor(events: WebSinkEvents) {
    this.#events = events;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#drained(),
        cancel: () => this.#left(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    );
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    if (this.#isOver) return;
    this.#controller?.enqueue(encoder.encode(text));
    if ((this.#controller?.desiredSize ?? 0) <= 0) this.#isFull = true;
  }

  end(): void {
    if (this.#isOver) return;
    this.#leave();
    this.#controller?.close();
  }

  destroy(): void {
    if (!this.#isOver) this.#leave();
    // Does nothing to a stream that was read to its end.
    this.#controller?.error(dropped());
  }

  /** The client has left. The stream is closed and not failed: frameworks log the failure of a stream. */
  gone(): void {
    if (this.#isOver) return;
    this.#controller?.close();
    this.#left();
  }

  #left(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.cancelled();
  }

  #leave(): void {
    this.#isOver = true;
    this.#events.over();
  }

  #drained(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.onDrain?.();
  }
}
