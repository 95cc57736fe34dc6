import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyBuffer, type HeldBytes } from "../body.ts";
import type { BodyRead, HttpRequest, HttpServe } from "../message.ts";
import type { HttpConnection, Connections } from "./connections.ts";
import { NodeReply } from "./node-reply.ts";

const nothing = new Uint8Array(0);

/** Writes a body that a framework has parsed as bytes again; `undefined` if none has. */
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

/** Names and values of headers that Node keeps, twice the number of headers. The server option `maxHeadersCount` counts headers. */
const defaultHeaderStrings = 2000;

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** A request of `node:http`, or of a framework over it. */
class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: HttpConnection;

  constructor(incoming: IncomingMessage, response: ServerResponse, connection: HttpConnection) {
    this.#incoming = incoming;
    this.#response = response;
    this.#connection = connection;
  }

  get method(): string {
    return this.#incoming.method ?? "";
  }

  get target(): string {
    const { url = "" } = this.#incoming;
    // Express cuts off the prefix of a mounted handler, and keeps the sent URL here.
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
    // `headers` keeps only the first value of some headers, but a proxy may have read another one.
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

  /**
   * Reads the body as {@link HttpRequest.body}. A body that a framework has read before is written as JSON again; it is empty if the
   * framework keeps none.
   */
  body(maxBytes: number, done: (body: BodyRead) => void, bytes?: HeldBytes): void {
    const incoming = this.#incoming;
    const body = new BodyBuffer(maxBytes, bytes);
    if (incoming.readableEnded) return done(readParsed(incoming, body));
    if (incoming.destroyed || this.#connection.isLate) return done("gone");
    if (body.isTooSmallFor(Number(incoming.headers["content-length"]))) return done("too-large");
    if (incoming.headers.expect !== undefined) this.#response.writeContinue();
    this.#collect(body, done);
  }

  /** Collects the pieces of a body. Once it is settled, further pieces are read and dropped. */
  #collect(body: BodyBuffer, done: (body: BodyRead) => void): void {
    const connection = this.#connection;
    const announced = Number(this.#incoming.headers["content-length"]);
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
    this.#incoming.on("data", onData).on("end", onEnd).on("close", onClose);
  }

  /** Returns the path and query of an absolute-form target, which must name the `Host` (RFC 9112, 3.2). */
  #toPath(target: string): string {
    const [, authority, rest = ""] = absoluteForm.exec(target) ?? [];
    if (authority === undefined || authority.toLowerCase() !== this.header("host")?.toLowerCase()) return target;
    return rest.startsWith("/") ? rest : `/${rest}`;
  }
}

/** Returns whether a sent header has this lower-case name. Compares lengths first, which differ for most. */
function isNamed(sent: string | undefined, name: string): boolean {
  return sent?.length === name.length && (sent === name || sent.toLowerCase() === name);
}

/** A request listener of `node:http` and of the frameworks over it. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Creates a function that serves the requests of a server of `node:http`. */
export function createNodeListener(serve: HttpServe, connections: Connections): NodeListener {
  return (request, response) => {
    // Node also reads requests that arrived together with one whose connection was dropped.
    if (request.socket.destroyed) return;
    const connection = connections.of(request.socket);
    if (!connection.hasRoom()) return;
    serve(new NodeRequest(request, response, connection), new NodeReply(request, response, connection));
  };
}
