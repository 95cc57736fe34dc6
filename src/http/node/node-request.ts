import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyBytes, BodyRead, HttpRequest } from "../message.ts";
import { BodyBuffer } from "../body/body-buffer.ts";
import type { Connection } from "./connections.ts";

/** Where a body comes from. */
export interface BodySource {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
}

const nothing = new Uint8Array(0);

/** What a framework has read and parsed before us, as it may have come; `undefined` where nobody did. */
function toBytes(parsed: unknown): Uint8Array | undefined {
  if (parsed === undefined) return undefined;
  if (parsed instanceof Uint8Array) return parsed;
  try {
    return Buffer.from(typeof parsed === "string" ? parsed : JSON.stringify(parsed));
  } catch {
    return nothing;
  }
}

function readParsed(incoming: IncomingMessage, body: BodyBuffer): BodyRead {
  const bytes = toBytes("body" in incoming ? incoming.body : undefined) ?? nothing;
  return body.append(bytes) ?? body.take();
}

/** Collects the pieces of a body. Once it is settled it keeps none, and the rest is read and dropped. */
function collect({ incoming, connection }: BodySource, body: BodyBuffer, done: (body: BodyRead) => void): void {
  const announced = Number(incoming.headers["content-length"]);
  let isOver = false;
  const settle = (failed?: Exclude<BodyRead, Uint8Array>): void => {
    if (isOver) return;
    isOver = true;
    connection.onLate = undefined;
    body.onEvicted = undefined;
    const bytes = body.take();
    done(failed ?? bytes);
  };
  const onData = (chunk: Buffer): void => {
    if (isOver) return;
    const isWhole = chunk.length === announced;
    // A body in one piece is complete before it could be evicted.
    if (!isWhole) body.onEvicted = onClose;
    const refusal = body.append(chunk, isWhole);
    if (refusal !== undefined) settle(refusal);
  };
  const onEnd = (): void => settle();
  const onClose = (): void => settle("gone");
  connection.onLate = onClose;
  incoming.on("data", onData).on("end", onEnd).on("close", onClose);
}

/**
 * Reads the body of a request into a buffer, as `HttpRequest.body` says. Where a framework has read it before, its `body` is
 * written as JSON again; where it has read it and keeps none, there is none.
 */
export function readNodeBody(source: BodySource, body: BodyBuffer, done: (body: BodyRead) => void): void {
  const { incoming, response, connection } = source;
  if (incoming.readableEnded) return done(readParsed(incoming, body));
  if (incoming.destroyed || connection.isLate) return done("gone");
  if (body.isTooSmallFor(Number(incoming.headers["content-length"]))) return done("too-large");
  if (incoming.headers.expect !== undefined) response.writeContinue();
  collect(source, body, done);
}

/**
 * Node keeps names and values up to this many strings together, so half as many headers, and drops those behind them. The
 * server option `maxHeadersCount` counts headers.
 */
const defaultHeaderStrings = 2000;

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** A request that came by `node:http`, or by a framework over it. */
export class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: Connection;

  constructor(incoming: IncomingMessage, response: ServerResponse, connection: Connection) {
    this.#incoming = incoming;
    this.#response = response;
    this.#connection = connection;
  }

  get method(): string {
    return this.#incoming.method ?? "";
  }

  get target(): string {
    const { url = "" } = this.#incoming;
    // Express cuts the prefix off that a handler is mounted under, and keeps here what was sent.
    const original: unknown = "originalUrl" in this.#incoming ? this.#incoming.originalUrl : undefined;
    const target = typeof original === "string" ? original : url;
    return target.startsWith("/") ? target : this.#toPath(target);
  }

  get isHeadCut(): boolean {
    const { rawHeaders, socket } = this.#incoming;
    const server: unknown = Reflect.get(socket, "server");
    const count: unknown =
      typeof server === "object" && server !== null ? Reflect.get(server, "maxHeadersCount") : null;
    const most = typeof count === "number" ? 2 * count : defaultHeaderStrings;
    return most > 0 && rawHeaders.length >= most;
  }

  get address(): string | undefined {
    return this.#connection.address;
  }

  get isRemote(): boolean {
    return this.#connection.isRemote;
  }

  get isReset(): boolean {
    const { destroyed, remoteAddress, localAddress } = this.#incoming.socket;
    // A Unix socket has neither address.
    return destroyed || (remoteAddress === undefined && localAddress !== undefined);
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

  body(maxBytes: number, done: (body: BodyRead) => void, bytes?: BodyBytes): void {
    const source = { incoming: this.#incoming, response: this.#response, connection: this.#connection };
    readNodeBody(source, new BodyBuffer(maxBytes, bytes), done);
  }

  /** The path and query of an absolute-form target, which must name the `Host` (RFC 9112, 3.2). */
  #toPath(target: string): string {
    const [, authority, rest = ""] = absoluteForm.exec(target) ?? [];
    if (authority === undefined || authority.toLowerCase() !== this.header("host")?.toLowerCase()) return target;
    return rest.startsWith("/") ? rest : `/${rest}`;
  }
}

/** Whether a header that was sent is the one of this name, in lower case; the length says so for most. */
function isNamed(sent: string | undefined, name: string): boolean {
  return sent?.length === name.length && (sent === name || sent.toLowerCase() === name);
}
