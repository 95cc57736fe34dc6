import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyRead, HttpRequest, TakeBytes } from "../message.ts";
import { BodyBuffer } from "../body/body-buffer.ts";
import { readNodeBody } from "./read-node-body.ts";

/** A request that came by `node:http`, or by a framework over it. */
export class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming;
    this.#response = response;
  }

  get method(): string {
    return this.#incoming.method ?? "";
  }

  get target(): string {
    const { url = "" } = this.#incoming;
    // Express cuts the prefix off that a handler is mounted under, and keeps here what was sent.
    const original: unknown = "originalUrl" in this.#incoming ? this.#incoming.originalUrl : undefined;
    return typeof original === "string" ? original : url;
  }

  get connection(): object {
    return this.#incoming.socket;
  }

  header(name: string): string | undefined {
    let value: string | undefined;
    // Node's own object keeps but the first of some headers: whoever checks must see what others could see.
    const raw = this.#incoming.rawHeaders;
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (!isNamed(raw[at], name)) continue;
      value = value === undefined ? raw[at + 1] : `${value}, ${raw[at + 1]}`;
    }
    return value;
  }

  count(name: string): number {
    let count = 0;
    const raw = this.#incoming.rawHeaders;
    for (let at = 0; at < raw.length; at += 2) if (isNamed(raw[at], name)) count += 1;
    return count;
  }

  body(maxBytes: number, take?: TakeBytes): Promise<BodyRead> {
    return readNodeBody(this.#incoming, this.#response, new BodyBuffer(maxBytes, take));
  }
}

/** Whether a header that was sent is the one of this name, in lower case; the length says so for most. */
function isNamed(sent: string | undefined, name: string): boolean {
  return sent?.length === name.length && (sent === name || sent.toLowerCase() === name);
}
