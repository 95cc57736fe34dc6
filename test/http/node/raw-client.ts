import { connect, type Socket } from "node:net";

/** A connection on which a test writes what it likes. */
export class RawClient {
  readonly socket: Socket;
  #heard = "";
  #isClosed = false;
  #wake: () => void = () => {};

  /** @param localAddress - the address that it comes from. @default the system's choice */
  constructor(port: number, host = "127.0.0.1", localAddress?: string) {
    this.socket = connect({ port, host, ...(localAddress === undefined ? {} : { localAddress }) });
    this.socket.on("data", (chunk: Buffer) => {
      this.#heard += chunk.toString("latin1");
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** Everything that was read so far. */
  get heard(): string {
    return this.#heard;
  }

  send(...parts: readonly string[]): void {
    this.socket.write(parts.join(""));
  }

  /** Resolves once this was heard; rejects where the connection is closed before. */
  async until(words: string): Promise<string> {
    while (!this.#heard.includes(words)) {
      if (this.#isClosed) throw new TypeError(`the connection was closed after ${JSON.stringify(this.#heard)}`);
      await new Promise<void>((wake) => (this.#wake = wake));
    }
    return this.#heard;
  }

  /** Resolves with everything that was heard, once the connection is closed. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await new Promise<void>((wake) => (this.#wake = wake));
    return this.#heard;
  }
}

/** The lines of a POST to `/mcp`, with the empty one after them. */
export function head(method: string, ...headers: readonly string[]): string {
  return [`${method} /mcp HTTP/1.1`, "host: localhost", ...headers, "", ""].join("\r\n");
}
