import type { ServerResponse } from "node:http";
import type { EventSink } from "../message.ts";

/** A stream of events over `node:http`. What is written within one turn of the event loop travels together. */
export class NodeEventSink implements EventSink {
  onDrain: (() => void) | undefined;
  readonly #response: ServerResponse;
  readonly #over: () => void;
  #isFull = false;
  #ended = false;

  /** @param over - told once, when this side ends it. */
  constructor(response: ServerResponse, over: () => void) {
    this.#response = response;
    this.#over = over;
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
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#response.end();
    this.#over();
  }

  destroy(): void {
    // What was read to its end has no connection any more: another request may be on it.
    if (this.#ended && this.#response.writableFinished) return;
    if (!this.#ended) {
      this.#ended = true;
      this.#over();
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
    this.onDrain?.();
  };
}
