import { SurfaceError } from "../errors.ts";
import { BodyBuffer, type HeldBytes } from "./body.ts";
import type { BodyRead, HttpRequest, EventSink, HttpAnswer, HttpReply, HttpServe } from "./message.ts";
import { createDeadSink } from "./sse.ts";

/** Reads a body until the signal fires: a runtime may leave the body of a client that has left open. */
async function collect(stream: ReadableStream<Uint8Array>, body: BodyBuffer, signal: AbortSignal): Promise<BodyRead> {
  if (signal.aborted) return "gone";
  const reader = stream.getReader();
  let isGone = false;
  const cancel = (): void => void reader.cancel().catch(() => {});
  const leave = (): void => {
    isGone = true;
    cancel();
  };
  body.onEvicted = leave;
  signal.addEventListener("abort", leave, { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (isGone) return "gone";
    if (done) return body.take();
    const refusal = body.append(value);
    if (refusal === undefined) continue;
    cancel();
    return refusal;
  }
}

/** A web `Request`. */
class WebRequest implements HttpRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string {
    const [url = ""] = this.#request.url.split("#", 1);
    return url.slice(authorityEnd(url));
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    if (value !== null) return value;
    // Some runtimes have the host in the URL only.
    return name === "host" ? hostOf(this.#request.url) : undefined;
  }

  /** Repeated headers are joined by now. Where a check allows one value, a joined one is invalid: it has a comma. */
  count(name: string): number {
    return this.header(name) === undefined ? 0 : 1;
  }

  /** Reads the body as {@link HttpRequest.body}. A body that was read before is empty. */
  body(maxBytes: number, done: (body: BodyRead) => void, bytes?: HeldBytes): void {
    void this.#read(new BodyBuffer(maxBytes, bytes), done);
  }

  async #read(body: BodyBuffer, done: (body: BodyRead) => void): Promise<void> {
    const { headers, body: stream, bodyUsed, signal } = this.#request;
    let read: BodyRead = new Uint8Array(0);
    try {
      if (body.isTooSmallFor(Number(headers.get("content-length")))) read = "too-large";
      else if (stream !== null && !bodyUsed) read = await collect(stream, body, signal);
    } catch {
      read = "gone";
    }
    body.onEvicted = undefined;
    done(read);
  }
}

/** Returns the index of the path. */
function authorityEnd(url: string): number {
  const at = url.indexOf("/", url.indexOf("://") + 3);
  return at === -1 ? url.length : at;
}

function hostOf(url: string): string {
  return url.slice(url.indexOf("://") + 3, authorityEnd(url));
}

const encoder = new TextEncoder();

/** Unread bytes from which on the stream counts as full. */
const highWaterMark = 64 * 1024;

/** Status for a client that has left. No client reads it, but the runtime waits for a response. */
const clientGone = 499;

/** Statuses whose answers must not have a body, not even an empty one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** The reply to a web request, and its event stream. */
class WebReply implements HttpReply, EventSink {
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
    this.#controller?.error(new SurfaceError("CLOSED", "Cannot write events: the server dropped the stream"));
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

/**
 * Throws for objects that are no web `Request`: the types of Express accept any function as a handler. `instanceof` would refuse
 * the request classes of other implementations.
 */
function assertRequest(request: unknown): void {
  const headers: unknown =
    typeof request === "object" && request !== null ? Reflect.get(request, "headers") : undefined;
  if (typeof headers === "object" && headers !== null && typeof Reflect.get(headers, "get") === "function") return;
  throw new SurfaceError(
    "INVALID_OPTION",
    "Cannot serve the request: it is not a web Request; pass handler.node to Express, Fastify and node:http",
  );
}

/** Creates the function that serves a web request. It throws if its argument is no `Request`; its promise never rejects. */
export function createFetchHandler(serve: HttpServe): (request: Request) => Promise<Response> {
  return (request) => {
    assertRequest(request);
    const reply = new WebReply(request);
    if (!reply.isOver) serve(new WebRequest(request), reply);
    return reply.response;
  };
}
