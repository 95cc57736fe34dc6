import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { WebSocket, type RawData } from "ws";
import { codeOf, SurfaceError } from "../../errors.ts";
import {
  BaseTransport,
  maxFirstBytes,
  maxFrameBytes,
  toBroken,
  toTooLarge,
  unreadable,
  type WireTransport,
} from "../transport/base-transport.ts";

/** Bytes in a socket that make it full. */
const highWaterMark = 64 * 1024;

/** Close codes of an orderly end: done, going away, and none given. */
const orderly: ReadonlySet<number> = new Set([1000, 1001, 1005]);

function toCause(error: Error): SurfaceError {
  const code = codeOf(error);
  const details = { cause: error };
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
    return new SurfaceError("FRAME_TOO_LARGE", "Cannot read from a link: a message is too large", details);
  }
  if (code.startsWith("WS_ERR_")) {
    return new SurfaceError("PROTOCOL_MISMATCH", "Cannot read from a link: a web socket frame is invalid", details);
  }
  return toBroken(error);
}

function toClosed(code: number): SurfaceError | undefined {
  if (orderly.has(code)) return undefined;
  return new SurfaceError("DISCONNECTED", `Cannot use a link: the connection was closed with code ${code}`);
}

/** Carries messages over a web socket, one a text frame. Never removes its listeners. */
class WebSocketTransport extends BaseTransport {
  readonly #socket: WebSocket;
  /** The socket below, which counts the bytes of unfinished messages too. */
  #raw: Socket | undefined;
  #maxBytes: number;
  #wasFull = false;

  constructor(socket: WebSocket, isWary: boolean, raw?: Socket) {
    super();
    this.#socket = socket;
    this.#raw = raw;
    this.#maxBytes = isWary ? maxFirstBytes : maxFrameBytes;
    socket.once("upgrade", (response) => (this.#raw = response.socket));
    socket.on("message", (data, isBinary) => this.#read(data, isBinary));
    socket.on("error", (error) => this.end(toCause(error)));
    socket.on("close", (code) => this.end(toClosed(code)));
  }

  get isFull(): boolean {
    return this.#socket.bufferedAmount > highWaterMark;
  }

  get received(): number {
    return this.#raw?.bytesRead ?? 0;
  }

  get backlog(): number {
    return this.#socket.bufferedAmount;
  }

  trust(): void {
    this.#maxBytes = maxFrameBytes;
  }

  destroy(): void {
    this.#socket.terminate();
  }

  protected isWritable(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  protected send(text: string): void {
    this.#socket.send(text, this.#onSent);
    this.#wasFull ||= this.isFull;
  }

  protected finishWriting(): void {
    this.#socket.close(1000);
  }

  protected flow(isFlowing: boolean): void {
    if (isFlowing) this.#socket.resume();
    else this.#socket.pause();
  }

  protected onceClosed(fn: () => void): void {
    this.#socket.once("close", fn);
  }

  readonly #onSent = (): void => {
    if (!this.#wasFull || this.isFull) return;
    this.#wasFull = false;
    this.drained();
  };

  #read(data: RawData, isBinary: boolean): void {
    if (!isBinary && Buffer.isBuffer(data)) {
      if (data.length > this.#maxBytes) return this.end(toTooLarge(data.length, this.#maxBytes));
      return this.push(data.toString("utf8"));
    }
    this.end(unreadable("a message must be text, and is binary"));
  }
}

/** Creates a transport, which owns the socket. `isWary` refuses large messages before `trust()`. `raw` is the open socket below. */
export function createWebSocketTransport(socket: WebSocket, isWary: boolean, raw?: Socket): WireTransport {
  return new WebSocketTransport(socket, isWary, raw);
}
