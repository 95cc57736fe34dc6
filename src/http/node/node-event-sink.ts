import type { ServerResponse } from "node:http";
import type { EventSink } from "../message.ts";

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
