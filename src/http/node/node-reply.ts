import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import type { Connection, OpenReply } from "./connection.ts";
import { NodeEventSink } from "./node-event-sink.ts";
import { isSmall, writeBody } from "./write-body.ts";

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
    this.#write(() => response.writeHead(200, headers).flushHeaders());
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
    response.writeHead(status, bodiless.has(status) ? headers : { ...headers, "content-length": bytes });
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
