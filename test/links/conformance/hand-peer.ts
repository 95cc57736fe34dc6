/**
 * A peer written by hand from docs/LINK-PROTOCOL.md, for the tests of this folder: it shares no code with `src/links`, nor
 * with the JSON-RPC library, so that a mistake they share with the document shows.
 */
import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";

/** One message, as it is on the wire. */
export interface WireMessage {
  readonly jsonrpc?: string;
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** A way to send texts, and to be told of them. */
export interface Pipe {
  send(text: string): void;
  /** Breaks it without a word. */
  cut(): void;
  onText(tell: (text: string) => void): void;
  readonly closed: Promise<unknown>;
}

/** The frame of a text on a stream of bytes. */
export function toFrame(text: string): Buffer {
  const body = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

/** Texts over a socket, or whatever else takes bytes and gives them. */
export function overSocket(socket: Duplex): Pipe {
  let held: Buffer = Buffer.alloc(0);
  let tell = (_text: string): void => {};
  socket.on("error", () => {});
  const read = (): boolean => {
    const end = held.indexOf("\r\n\r\n");
    if (end === -1) return false;
    const length = Number(/^content-length: *([0-9]+)$/im.exec(held.toString("ascii", 0, end))?.[1]);
    if (held.length < end + 4 + length) return false;
    const text = held.toString("utf8", end + 4, end + 4 + length);
    held = held.subarray(end + 4 + length);
    tell(text);
    return true;
  };
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (read());
  });
  return {
    send: (text) => void socket.write(toFrame(text)),
    cut: () => void socket.destroy(),
    onText: (fn) => (tell = fn),
    closed: new Promise((resolve) => socket.once("close", resolve)),
  };
}

/** Texts over a web socket. */
export function overWeb(socket: WebSocket): Pipe {
  socket.on("error", () => {});
  return {
    send: (text) => socket.send(text),
    cut: () => socket.terminate(),
    onText: (tell) => void socket.on("message", (data: Buffer) => tell(data.toString("utf8"))),
    closed: new Promise((resolve) => socket.once("close", resolve)),
  };
}

/** Opens a pipe to a path, or to the URL of a web socket. */
export async function openPipe(address: string): Promise<Pipe> {
  if (address.startsWith("ws:")) {
    const socket = new WebSocket(address);
    const pipe = overWeb(socket);
    await once(socket, "open");
    return pipe;
  }
  const socket = connect(address);
  const pipe = overSocket(socket);
  await once(socket, "connect");
  return pipe;
}

/** One end of a connection, of either role. */
export class HandPeer {
  readonly pipe: Pipe;
  /** Everything that has come, in order. */
  readonly heard: WireMessage[] = [];
  /** Whether it answers pings, as it must. */
  isAwake = true;
  #lastId = 0;
  readonly #waiting = new Set<() => void>();

  constructor(pipe: Pipe) {
    this.pipe = pipe;
    pipe.onText((text) => this.#hear(JSON.parse(text) as WireMessage));
  }

  get closed(): Promise<unknown> {
    return this.pipe.closed;
  }

  send(message: object): void {
    this.pipe.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  notify(method: string, params: object = {}): void {
    this.send({ method, params });
  }

  /** Sends a request, and waits for its answer. */
  async request(method: string, params: object = {}): Promise<WireMessage> {
    const id = this.start(method, params);
    return this.next((message) => message.id === id && message.method === undefined);
  }

  /** Sends a request; returns its id. */
  start(method: string, params: object = {}): number {
    this.#lastId += 1;
    this.send({ id: this.#lastId, method, params });
    return this.#lastId;
  }

  /** The first message, past or to come, that `pick` accepts. */
  async next(pick: (message: WireMessage) => boolean): Promise<WireMessage> {
    for (;;) {
      const found = this.heard.find(pick);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** The items of a stream so far. */
  items(stream: number): unknown[] {
    const ofStream = this.heard.filter(
      ({ method, params }) => method === "surface/item" && params?.["stream"] === stream,
    );
    return ofStream.map(({ params }) => params?.["value"]);
  }

  #hear(message: WireMessage): void {
    this.heard.push(message);
    if (message.method === "surface/ping" && this.isAwake) this.send({ id: message.id, result: null });
    for (const wake of [...this.#waiting]) wake();
    this.#waiting.clear();
  }
}
