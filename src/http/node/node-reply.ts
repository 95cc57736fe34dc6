import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import type { Connection, OpenReply } from "./connections.ts";

/** How much is written at once: that something was read shows in as small steps, on however slow a connection. */
const pieceBytes = 64 * 1024;

/** Whether a body is written in one piece. */
export function isSmall(body: string): boolean {
  return body.length * 3 <= pieceBytes || Buffer.byteLength(body) <= pieceBytes;
}

/** Receives a report each time that a client has read some of a body. */
export interface BodyReader {
  moved(): void;
}

/** Writes a large body piece by piece. Takes bytes, so that no text is kept beside them. */
export function writeBody(response: ServerResponse, bytes: Buffer, reader: BodyReader): void {
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
    reader.moved();
  };
  response.on("drain", onDrain);
  writeOn();
}

/** What a {@link NodeEventSink} reports. */
export interface NodeSinkEvents {
  /** This side has ended it. */
  over(): void;
  /** Something was written, or taken by the system. */
  moved(): void;
}

/** A stream of events over `node:http`. What is written within one turn of the event loop travels together. */
export class NodeEventSink implements EventSink {
  onDrain: (() => void) | undefined;
  readonly #response: ServerResponse;
  readonly #events: NodeSinkEvents;
  #isFull = false;
  #ended = false;

  constructor(response: ServerResponse, events: NodeSinkEvents) {
    this.#response = response;
    this.#events = events;
    response.on("drain", this.#drained);
    // Node tells what has been ended of nothing else.
    response.on("finish", this.#drained);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    if (this.#ended || this.#response.destroyed) return;
    if (!this.#response.write(text)) this.#isFull = true;
    this.#events.moved();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#response.end();
    this.#events.over();
  }

  destroy(): void {
    // What was read to its end has no connection any more: another request may be on it.
    if (this.#ended && this.#response.writableFinished) return;
    if (!this.#ended) {
      this.#ended = true;
      this.#events.over();
    }
    this.#response.destroy();
  }

  /** Takes nothing, and does nothing to the connection. */
  leave(): void {
    this.#ended = true;
  }

  readonly #drained = (): void => {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#events.moved();
    this.onDrain?.();
  };
}

/** A response that was destroyed tells of it what writes to it; whoever has left is told nothing. */
function ignore(): void {}

/** Statuses whose answers have no length, not even that of nothing. */
const bodiless: ReadonlySet<number> = new Set([204, 304]);

/** What a reply is made of. */
export interface NodeReplyParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The one that the request came on. */
  readonly connection: Connection;
  /** Whether the connection is to be closed with the answer. */
  readonly isLeaving: () => boolean;
}

/** Where a request that came by `node:http` is answered. */
export class NodeReply implements HttpReply, OpenReply {
  onGone: (() => void) | undefined;
  owner: string | undefined;
  extraHeaders: Readonly<Record<string, string>> | undefined;
  readonly #parts: NodeReplyParts;
  /** Size of a body that is written piece by piece; the whole of it is held until the last piece is taken. */
  #bodyBytes = 0;
  #isBegun = false;
  #isOver = false;

  constructor(parts: NodeReplyParts) {
    this.#parts = parts;
    const { response, connection } = parts;
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

  get isRead(): boolean {
    return this.#parts.request.complete;
  }

  get isComing(): boolean {
    return !this.#isBegun && !this.isRead;
  }

  get isSent(): boolean {
    return this.#parts.response.writableFinished;
  }

  get heldBytes(): number {
    const { response } = this.#parts;
    if (response.destroyed || response.writableFinished) return 0;
    return Math.max(response.writableLength, this.#bodyBytes);
  }

  answer(answer: HttpAnswer): void {
    if (!this.#begin()) return;
    this.#isOver = true;
    const { response, connection } = this.#parts;
    // Node would keep the bytes until it reports the end of the connection, which is after all that was read in this turn.
    if (connection.isClosed) return;
    try {
      this.#send(answer);
    } catch {
      response.destroy();
    }
    connection.answered(this);
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const { response } = this.#parts;
    const sink = new NodeEventSink(response, {
      over: () => this.#onStreamEnd(),
      moved: () => this.#parts.connection.weigh(this),
    });
    if (!this.#begin()) {
      sink.leave();
      return sink;
    }
    // The head goes out with what is written in the same turn, and without it where nothing is.
    const { socket } = response;
    socket?.cork();
    this.#write(() => response.writeHead(200, { ...headers, ...this.extraHeaders }).flushHeaders());
    process.nextTick(() => socket?.uncork());
    return sink;
  }

  /** The connection is closed. */
  gone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onGone?.();
  }

  /** Creates no closure here: one that stays with the response would keep the text beside its bytes. */
  #send({ status, headers, body = "" }: HttpAnswer): void {
    const { response, connection } = this.#parts;
    const bytes = Buffer.byteLength(body);
    const own = bodiless.has(status) ? headers : { ...headers, "content-length": bytes };
    response.writeHead(status, this.extraHeaders === undefined ? own : { ...own, ...this.extraHeaders });
    if (isSmall(body)) return this.#sendSmall(body, bytes);
    this.#bodyBytes = bytes;
    writeBody(response, Buffer.from(body), connection);
  }

  /** Sends head and body by one `write`. `end(body)` adds an empty chunk, and the socket sends two chunks by `writev`. */
  #sendSmall(body: string, bytes: number): void {
    const { response } = this.#parts;
    const { socket } = response;
    socket?.cork();
    // ASCII is the same in both encodings, and Latin-1 is copied as it is.
    if (bytes > 0) response.write(body, bytes === body.length ? "latin1" : "utf8");
    socket?.uncork();
    response.end();
  }

  #onStreamEnd(): void {
    this.#isOver = true;
    this.#parts.connection.answered(this);
  }

  /** Takes the one turn to answer. */
  #begin(): boolean {
    if (this.#isBegun || this.#isOver) return false;
    this.#isBegun = true;
    const { request, response, connection, isLeaving } = this.#parts;
    // Whoever served the request to us may answer it as well, as where it takes too long.
    this.#isOver = response.headersSent || response.writableEnded;
    if (this.#isOver) return false;
    // Whoever waits to be told to go on may send the body all the same: what follows here could not be told from it.
    const awaitsWord = request.headers.expect !== undefined && !request.readableDidRead;
    const isLate = connection.isLate && !request.complete;
    if (awaitsWord || isLate || isLeaving()) response.shouldKeepAlive = false;
    return true;
  }

  /** What others have put around a response may refuse what is written: its client is not left waiting. */
  #write(write: () => void): void {
    try {
      write();
    } catch {
      this.#parts.response.destroy();
    }
  }
}
