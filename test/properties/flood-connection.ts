import { connect, type Socket } from "node:net";
import { faultsOf } from "./read-responses.ts";

/** A bound on a hang, in milliseconds. */
const hangMs = 60_000;

/** A complete response: its status, the text of its body, and all of it as it was heard. */
export interface WholeResponse {
  readonly status: number;
  readonly body: string;
  readonly heard: string;
}

interface Head {
  readonly end: number;
  readonly status: number;
  /** The bytes of the body; `undefined` if it comes in chunks. */
  readonly length: number | undefined;
  readonly closes: boolean;
}

function readHead(heard: string): Head | undefined {
  const at = heard.indexOf("\r\n\r\n");
  if (at === -1) return undefined;
  const head = heard.slice(0, at + 2).toLowerCase();
  const isChunked = head.includes("\r\ntransfer-encoding: chunked\r\n");
  return {
    end: at + 4,
    status: Number(head.slice(9, 12)),
    length: isChunked ? undefined : Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0),
    closes: head.includes("\r\nconnection: close\r\n"),
  };
}

/** Returns where a response ends; `undefined` before all of it was heard. */
function endOf(heard: string, { end, length }: Head): number | undefined {
  if (length !== undefined) return heard.length >= end + length ? end + length : undefined;
  const last = heard.indexOf("\r\n0\r\n\r\n", end - 2);
  return last === -1 ? undefined : last + 7;
}

/**
 * A connection on which requests follow each other, and each waits for its response. It connects again after the server closed.
 * Bytes are heard as `latin1`.
 */
export class FloodConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #heard = "";
  #wake: () => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a whole request. @throws if it gets no response, or if more was heard than one response. */
  async ask(bytes: Buffer): Promise<WholeResponse> {
    if (this.#heard !== "") throw new Error(`Heard more than one response: ${this.#heard.slice(0, 400)}`);
    const socket = (this.#socket ??= this.#open());
    socket.write(bytes);
    const response = await this.#whole(socket, bytes);
    return response;
  }

  /** Sends bytes that need not be a request, ends, and returns the faults of what was heard until the server closed. */
  async tell(bytes: Buffer): Promise<readonly string[]> {
    let heard = "";
    const socket = connect(this.#port, "127.0.0.1");
    socket.setEncoding("latin1").on("data", (text: string) => (heard += text));
    socket.on("error", () => {});
    socket.end(bytes);
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    return faultsOf(heard);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, "127.0.0.1");
    socket.setEncoding("latin1").on("data", (text: string) => {
      this.#heard += text;
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => this.#wake());
    return socket;
  }

  async #whole(socket: Socket, bytes: Buffer): Promise<WholeResponse> {
    const timer = setTimeout(() => socket.destroy(), hangMs);
    for (;;) {
      const head = readHead(this.#heard);
      const end = head === undefined ? undefined : endOf(this.#heard, head);
      if (head !== undefined && end !== undefined) {
        clearTimeout(timer);
        const heard = this.#heard.slice(0, end);
        this.#heard = this.#heard.slice(end);
        if (head.closes) this.#socket = undefined;
        return { status: head.status, body: heard.slice(head.end), heard };
      }
      if (socket.closed) {
        clearTimeout(timer);
        throw new Error(`Heard ${JSON.stringify(this.#heard)} and no response to ${bytes.toString("latin1")}`);
      }
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}
