import { setImmediate } from "node:timers";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import { createDeadSink } from "../sse.ts";
import type { HttpConnection } from "./connections.ts";

/** Bytes of one write. So the progress of a slow client is seen in steps of this size. */
const pieceBytes = 64 * 1024;

/**
 * Longest body, in UTF-16 code units, that is sent at the end of the turn. Writes of one turn that follow each other wake clients
 * less often and cost a third less CPU than writes between handlers.
 */
const maxDelayedChars = 16 * 1024;

/** Milliseconds after which a request is answered at once: handlers that follow must not delay the answer of a slow one. */
const slowMs = 1;

/** Returns whether a body is written in one piece. */
function isSmall(body: string): boolean {
  return body.length * 3 <= pieceBytes || Buffer.byteLength(body) <= pieceBytes;
}

/** Writes a large body piece by piece. Takes bytes, so that the text is not kept beside them. */
function writeBody(response: ServerResponse, bytes: Buffer, connection: HttpConnection): void {
  let at = 0;
  const writeOn = (): void => {
    while (bytes.length - at > pieceBytes) {
      const goesOn = response.write(bytes.subarray(at, (at += pieceBytes)));
      if (!goesOn) return;
    }
    response.off("drain", onDrain).end(bytes.subarray(at));
  };
  const onDrain = (): void => {
    writeOn();
    connection.moved();
  };
  response.on("drain", onDrain);
  writeOn();
}

/** Ignores errors of writes to a destroyed response: the client is gone. */
function ignore(): void {}

/** Statuses whose responses have no `Content-Length`. */
const bodiless: ReadonlySet<number> = new Set([204, 304]);

/** The reply to a request over `node:http`, and its stream of events. Writes of one turn travel together. */
export class NodeReply implements HttpReply, EventSink {
  onGone: (() => void) | undefined;
  onDrain: (() => void) | undefined;
  owner: string | undefined;
  extraHeaders: Readonly<Record<string, string>> | undefined;
  /** Whether the client has to read the answer. Only {@link HttpConnection} changes it. */
  isUnread = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: HttpConnection;
  /** Size of a body that is written piece by piece. All of it is held until the system takes the last piece. */
  #bodyBytes = 0;
  #isBegun = false;
  #isOver = false;
  #isFull = false;
  /** Whether the connection closes with the answer as its client asked, and input of it may be unread by then. */
  #isEarly = false;
  readonly #startedAt = performance.now();

  constructor(request: IncomingMessage, response: ServerResponse, connection: HttpConnection) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    connection.add(this);
    response.on("error", ignore);
    response.on("close", () => {
      connection.remove(this);
      this.gone();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns whether the whole request arrived. */
  get isRead(): boolean {
    return this.#request.complete;
  }

  /** Returns whether the request is still arriving, without an answer. */
  get isArriving(): boolean {
    return !this.#isBegun && !this.isRead;
  }

  /** Returns whether the system has the whole answer, as far as the runtime knows by now. */
  get isSent(): boolean {
    return this.#response.writableFinished;
  }

  get heldBytes(): number {
    const response = this.#response;
    if (response.destroyed || response.writableFinished) return 0;
    return Math.max(response.writableLength, this.#bodyBytes);
  }

  answer(answer: HttpAnswer): void {
    if (!this.#begin()) return;
    this.#isOver = true;
    this.#connection.answered(this);
    const isSmallEnough = this.#connection.delaysAnswers && (answer.body?.length ?? 0) <= maxDelayedChars;
    const isDelayed = isSmallEnough && performance.now() - this.#startedAt < slowMs;
    // One immediate each, because listeners of the response run in the async context of their request.
    if (isDelayed) setImmediate(NodeReply.#sendDelayed, this, answer);
    else this.#send(answer);
  }

  static #sendDelayed(this: void, reply: NodeReply, answer: HttpAnswer): void {
    reply.#send(answer);
  }

  #send(answer: HttpAnswer): void {
    const response = this.#response;
    const connection = this.#connection;
    // Node would keep the bytes until it reports the close of the connection, after all input of this turn.
    if (connection.isClosed) return;
    try {
      this.#write(answer);
    } catch {
      response.destroy();
    }
    connection.written(this);
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const response = this.#response;
    if (!this.#begin()) return createDeadSink();
    response.on("drain", this.#drained);
    // Node emits no "drain" for a response that was ended.
    response.on("finish", this.#drained);
    // Sends the head with the writes of the same turn, or alone.
    const { socket } = response;
    socket?.cork();
    try {
      response.writeHead(200, { ...headers, ...this.extraHeaders }).flushHeaders();
    } catch {
      // A wrapper around the response may refuse a header. The client must not wait.
      response.destroy();
    }
    process.nextTick(() => socket?.uncork());
    return this;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    const response = this.#response;
    const connection = this.#connection;
    if (this.#isOver || response.destroyed) return;
    if (!response.write(text)) this.#isFull = true;
    connection.weigh(this);
  }

  end(): void {
    if (this.#isOver) return;
    this.#response.end();
    this.#endStream();
  }

  destroy(): void {
    const response = this.#response;
    // The connection of a response that was read to its end may serve another request.
    if (this.#isOver && response.writableFinished) return;
    if (!this.#isOver) this.#endStream();
    response.destroy();
  }

  /** Called when the connection is closed. */
  gone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onGone?.();
  }

  /** Writes the answer. Creates no closure, which would keep the text beside its bytes. */
  #write({ status, headers, body = "" }: HttpAnswer): void {
    const response = this.#response;
    const connection = this.#connection;
    const bytes = Buffer.byteLength(body);
    const own = bodiless.has(status) ? headers : { ...headers, "content-length": bytes };
    response.writeHead(status, this.extraHeaders === undefined ? own : { ...own, ...this.extraHeaders });
    if (isSmall(body)) return this.#sendSmall(body, bytes);
    this.#bodyBytes = bytes;
    writeBody(response, Buffer.from(body), connection);
  }

  /** Sends head and body by one `write`. `end(body)` adds an empty chunk, and the socket sends two chunks by `writev`. */
  #sendSmall(body: string, bytes: number): void {
    const response = this.#response;
    const { socket } = response;
    socket?.cork();
    // ASCII is the same in both encodings, and Latin-1 is copied as it is.
    if (bytes > 0) response.write(body, bytes === body.length ? "latin1" : "utf8");
    else if (this.#isEarly) response.flushHeaders();
    socket?.uncork();
    if (this.#isEarly) this.#endAfterRequest();
    else response.end();
  }

  /**
   * Ends the response with the request. The end closes the connection: that resets a client that still sends, which may lose the
   * answer (RFC 9112, 9.6). The time that a client has for reading its answer bounds the wait.
   */
  #endAfterRequest(): void {
    const request = this.#request;
    const end = (): void => void this.#response.end();
    // The rest may have come since the answer began.
    if (request.complete || request.readableEnded) return end();
    request.once("end", end).once("close", end).resume();
  }

  #endStream(): void {
    this.#isOver = true;
    this.#connection.answered(this);
    this.#connection.written(this);
  }

  readonly #drained = (): void => {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#connection.weigh(this);
    this.onDrain?.();
  };

  /** Begins the answer. Returns `false` if there is one already. */
  #begin(): boolean {
    if (this.#isBegun || this.#isOver) return false;
    this.#isBegun = true;
    const request = this.#request;
    const response = this.#response;
    // A framework may have answered the request itself, for example after a timeout.
    this.#isOver = response.headersSent || response.writableEnded;
    if (this.#isOver) return false;
    if (this.#mustClose()) response.shouldKeepAlive = false;
    else this.#isEarly = !request.complete && !response.shouldKeepAlive;
    return true;
  }

  /** Returns whether the connection closes with the answer, although the client may not have asked for that. */
  #mustClose(): boolean {
    const request = this.#request;
    // A client that waits for "100 Continue" may send the body later, where the server expects the next request.
    const awaitsContinue = request.headers.expect !== undefined && !request.readableDidRead;
    const isLate = this.#connection.isLate && !request.complete;
    return awaitsContinue || isLate || this.#connection.isLeaving;
  }
}
