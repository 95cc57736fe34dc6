import { connect, type Socket } from "node:net";

/** A response in one piece, or what a stream began with. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly head: string;
  readonly body: string;
}

/** Told of a response that is complete, or of what came on a stream. */
type ChunkListener = (chunk: Buffer) => void;

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");
const lengthHeader = /\r\ncontent-length: *(\d+)/i;

/** How much of a body that was announced with this head is still to come; `undefined`: it says so itself when it ends. */
function missingOf(chunk: Buffer, at: number): number | undefined {
  const length = lengthHeader.exec(chunk.toString("latin1", 0, at))?.[1];
  return length === undefined ? undefined : Number(length) - (chunk.length - at - headEnd.length);
}

function closed(): Error {
  return new Error("Benchmark: a server closed a connection");
}

function isOver(chunk: Buffer, missing: number | undefined): boolean {
  if (missing !== undefined) return missing <= 0;
  return chunk.length >= lastChunk.length && chunk.subarray(-lastChunk.length).equals(lastChunk);
}

/**
 * One connection that is kept, with one request unanswered at a time. Responses are told complete, not parsed: what drives
 * a server must cost less than the server. Whoever opened it closes it.
 */
export class HttpConnection {
  readonly #socket: Socket;
  /** Set while a body is coming. */
  #body: { missing: number | undefined } | undefined;
  #onChunk: ChunkListener = () => {};
  #onOver: () => void = () => {};
  #fail: (cause: Error) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#hear(chunk));
    socket.on("error", (cause) => this.#fail(cause));
    socket.on("close", () => this.#fail(closed()));
  }

  /** Connects to a port of this machine. */
  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new HttpConnection(socket));
      });
    });
  }

  /** Calls back for each response that is complete, until it is set anew. `failed` is told of a connection that is lost. */
  attend(answered: () => void, failed: (cause: Error) => void): void {
    this.#onChunk = checkAnswer;
    this.#onOver = answered;
    this.#fail = failed;
    if (this.#socket.destroyed) failed(closed());
  }

  /** Calls back for each piece of a stream, which does not end. */
  follow(heard: ChunkListener): void {
    this.#onChunk = heard;
    this.#onOver = () => {};
    this.#fail = () => {};
  }

  /** Sends a request, or several. */
  write(text: string): void {
    this.#socket.write(text);
  }

  /** Sends a request, and resolves with its response. */
  ask(text: string): Promise<HttpResponse> {
    const chunks: Buffer[] = [];
    return new Promise((resolve, reject) => {
      this.#onChunk = (chunk) => chunks.push(chunk);
      this.#onOver = () => resolve(toResponse(chunks));
      this.#fail = reject;
      if (this.#socket.destroyed) return reject(closed());
      this.write(text);
    });
  }

  /** Sends a request, and resolves with the head of its response and what of it came along: it is a stream. */
  openStream(text: string): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.#onChunk = (chunk) => resolve(toResponse([chunk]));
      this.#onOver = () => {};
      this.#fail = reject;
      this.write(text);
    });
  }

  /** Reads nothing any more. */
  stick(): void {
    this.#socket.pause();
  }

  /** Closes it. Callable twice. */
  close(): void {
    this.#fail = () => {};
    this.#socket.destroy();
  }

  #hear(chunk: Buffer): void {
    if (this.#body === undefined) {
      const at = chunk.indexOf(headEnd);
      if (at === -1) return this.#fail(new Error("Benchmark: the head of a response came in pieces"));
      this.#body = { missing: missingOf(chunk, at) };
    } else if (this.#body.missing !== undefined) this.#body.missing -= chunk.length;
    this.#onChunk(chunk);
    if (!isOver(chunk, this.#body.missing)) return;
    this.#body = undefined;
    this.#onOver();
  }
}

function checkAnswer(chunk: Buffer): void {
  if (chunk.includes('"error":{')) throw new Error(`Benchmark: a server refused: ${chunk.toString("utf8", 0, 600)}`);
}

function toResponse(chunks: readonly Buffer[]): HttpResponse {
  const text = Buffer.concat(chunks).toString("utf8");
  const at = text.indexOf("\r\n\r\n");
  const head = text.slice(0, at).toLowerCase();
  return { status: Number(head.slice(9, 12)), head, body: text.slice(at + 4) };
}

/** The message in the body of a response: in one piece, as the only event of a stream, or in one chunk. */
export function readMessage({ body }: HttpResponse): unknown {
  return JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1));
}
