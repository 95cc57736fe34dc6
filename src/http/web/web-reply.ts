import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import { SurfaceError } from "../../errors.ts";

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

/** What is answered to who has left: nobody reads it, but what serves waits for an answer. */
const clientGone = 499;

/** Statuses whose answers must not have a body, not even an empty one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Where a request that came as the web's own object is answered. */
export class WebReply implements HttpReply {
  onGone: (() => void) | undefined;
  extraHeaders: Readonly<Record<string, string>> | undefined;
  /** The answer, as soon as it begins. Always settles once the request was answered or its client has left. */
  readonly response: Promise<Response>;
  #respond: (response: Response) => void = () => {};
  readonly #signal: AbortSignal;
  #sink: WebEventSink | undefined;
  #isBegun = false;
  #isOver = false;

  constructor({ signal }: Request) {
    this.#signal = signal;
    this.response = new Promise((respond) => (this.#respond = respond));
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  answer({ status, headers = {}, body }: HttpAnswer): void {
    if (!this.#begin()) return;
    this.#finish();
    this.#respond(
      new Response(bodiless.has(status) ? null : (body ?? ""), {
        status,
        headers: { ...headers, ...this.extraHeaders },
      }),
    );
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const sink = new WebEventSink({ over: () => this.#finish(), cancelled: () => this.#gone() });
    if (!this.#begin()) {
      sink.end();
      return sink;
    }
    this.#sink = sink;
    this.#respond(new Response(sink.readable, { status: 200, headers: { ...headers, ...this.extraHeaders } }));
    return sink;
  }

  #begin(): boolean {
    if (this.#isBegun || this.#isOver) return false;
    this.#isBegun = true;
    return true;
  }

  #finish(): void {
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  #gone(): void {
    if (this.#isOver) return;
    this.#finish();
    this.onGone?.();
  }

  readonly #onAbort = (): void => {
    // The stream first: it tells us, and takes nothing more.
    this.#sink?.gone();
    this.#gone();
    this.#respond(new Response(null, { status: clientGone }));
  };
}
