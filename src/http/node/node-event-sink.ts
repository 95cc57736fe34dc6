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
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    if (this.#ended || this.#response.destroyed) return;
    if (!this.#response.write(text)) this.#isFull = true;
  }

  end(): void {
    if (!this.#finish()) return;
    this.#response.end();
  }

  destroy(): void {
    if (!this.#finish() && this.#response.writableFinished) return;
    this.#response.destroy();
  }

  #finish(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#over();
    return true;
  }

  readonly #drained = (): void => {
    this.#isFull = false;
    if (!this.#ended) this.onDrain?.();
  };
}
