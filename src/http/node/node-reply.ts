import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventSink, HttpAnswer, HttpReply } from "../message.ts";
import { NodeEventSink } from "./node-event-sink.ts";
import { addOpenReply, removeOpenReply } from "./open-replies.ts";

/** A response that was destroyed tells of it what writes to it; whoever has left is told nothing. */
function ignore(): void {}

/** Statuses whose answers have no length, not even that of nothing. */
const bodiless: ReadonlySet<number> = new Set([204, 304]);

/** Where a request that came by `node:http` is answered. */
export class NodeReply implements HttpReply {
  onGone: (() => void) | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isLeaving: () => boolean;
  #isBegun = false;
  #isOver = false;

  /** @param isLeaving - whether the connection is to be closed with the answer. */
  constructor(request: IncomingMessage, response: ServerResponse, isLeaving: () => boolean) {
    this.#request = request;
    this.#response = response;
    this.#isLeaving = isLeaving;
    addOpenReply(request.socket, this);
    response.on("error", ignore);
    response.on("close", () => {
      removeOpenReply(request.socket, this);
      this.gone();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  answer({ status, headers, body = "" }: HttpAnswer): void {
    if (!this.#begin()) return;
    this.#isOver = true;
    const length = bodiless.has(status) ? {} : { "content-length": Buffer.byteLength(body) };
    this.#response.writeHead(status, { ...headers, ...length }).end(body);
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const sink = new NodeEventSink(this.#response, () => (this.#isOver = true));
    if (!this.#begin()) {
      sink.leave();
      return sink;
    }
    // The head goes out with what is written in the same turn, and without it where nothing is.
    const { socket } = this.#response;
    socket?.cork();
    this.#response.writeHead(200, headers).flushHeaders();
    process.nextTick(() => socket?.uncork());
    return sink;
  }

  /** The connection is closed. */
  gone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onGone?.();
  }

  /** Takes the one turn to answer. */
  #begin(): boolean {
    if (this.#isBegun || this.#isOver) return false;
    this.#isBegun = true;
    // Whoever waits to be told to go on may send the body all the same: what follows here could not be told from it.
    const awaitsWord = this.#request.headers.expect !== undefined && !this.#request.readableDidRead;
    if (awaitsWord || this.#isLeaving()) this.#response.shouldKeepAlive = false;
    return true;
  }
}
