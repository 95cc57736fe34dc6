import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import { createDeadSink } from "../sse.ts";
import { SurfaceError } from "../../errors.ts";

const encoder = new TextEncoder();

/** How many bytes may wait to be read until the stream counts as full. */
const highWaterMark = 64 * 1024;

function dropped(): SurfaceError {
  return new SurfaceError("CLOSED", "Writing events: the stream was dropped");
}

/** What is answered to who has left: nobody reads it, but what serves waits for an answer. */
const clientGone = 499;

/** Statuses whose answers must not have a body, not even an empty one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** The reply to a web request, and its stream of events. */
export class WebReply implements HttpReply, EventSink {
  onGone: (() => void) | undefined;
  onDrain: (() => void) | undefined;
  extraHeaders: Readonly<Record<string, string>> | undefined;
  /** Resolves when the response begins, or the client has left. */
  readonly response: Promise<Response>;
  #respond: (response: Response) => void = () => {};
  readonly #signal: AbortSignal;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isBegun = false;
  #isOver = false;
  #isFull = false;

  constructor({ signal }: Request) {
    this.#signal = signal;
    this.response = new Promise((respond) => (this.#respond = respond));
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  answer({ status, headers, body = "" }: HttpAnswer): void {
    if (!this.#begin()) return;
    this.#finish();
    this.#begun(bodiless.has(status) ? null : body, status, headers);
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    if (!this.#begin()) return createDeadSink();
    const readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#drained(),
        cancel: () => this.#gone(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    );
    this.#begun(readable, 200, headers);
    return this;
  }

  write(text: string): void {
    if (this.#isOver) return;
    this.#controller?.enqueue(encoder.encode(text));
    if ((this.#controller?.desiredSize ?? 0) <= 0) this.#isFull = true;
  }

  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#controller?.close();
  }

  destroy(): void {
    this.#finish();
    // Does nothing to a stream that was read to its end.
    this.#controller?.error(dropped());
  }

  #begin(): boolean {
    if (this.#isBegun || this.#isOver) return false;
    this.#isBegun = true;
    return true;
  }

  #begun(body: ReadableStream | string | null, status: number, headers: HttpAnswer["headers"]): void {
    this.#respond(new Response(body, { status, headers: { ...headers, ...this.extraHeaders } }));
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

  #drained(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.onDrain?.();
  }

  /** Closes the stream of a client that has left. Frameworks log a stream that fails. */
  readonly #onAbort = (): void => {
    if (!this.#isOver) this.#controller?.close();
    this.#gone();
    this.#respond(new Response(null, { status: clientGone }));
  };
}
