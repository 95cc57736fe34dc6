import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import { WebEventSink } from "./web-event-sink.ts";

/** What is answered to who has left: nobody reads it, but what serves waits for an answer. */
const clientGone = 499;

/** Statuses whose answers must not have a body, not even an empty one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Where a request that came as the web's own object is answered. */
export class WebReply implements HttpReply {
  onGone: (() => void) | undefined;
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
    this.#respond(new Response(bodiless.has(status) ? null : (body ?? ""), { status, headers: { ...headers } }));
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const sink = new WebEventSink({ over: () => this.#finish(), cancelled: () => this.#gone() });
    if (!this.#begin()) {
      sink.end();
      return sink;
    }
    this.#sink = sink;
    this.#respond(new Response(sink.readable, { status: 200, headers: { ...headers } }));
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
