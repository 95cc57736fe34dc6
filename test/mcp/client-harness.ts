import type { Era } from "../../src/mcp/protocol.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";

/** A message that a server sent. */
export type Sent = Readonly<Record<string, unknown>>;

/** A request, without its id. */
export interface Request {
  readonly method: string;
  readonly params?: object;
}

/** The client of one connection without a transport. */
export abstract class ClientHarness {
  readonly sent: Sent[] = [];
  #listeners: (() => void)[] = [];

  /** Hands a line to the server. */
  abstract receive(line: string): void;

  abstract close(): Promise<void>;

  /** Waits until `done` holds; looks again after each message. A hang is for the test's own timeout. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  answers(id: unknown): readonly Sent[] {
    return this.sent.filter((message) => !("method" in message) && message["id"] === id);
  }

  /** Sends a request and waits for its answer. */
  async request(era: Era, id: number | string, { method, params }: Request): Promise<Sent> {
    const line = era === "modern" ? modernLine(id, method, params) : legacyLine(id, method, params);
    const before = this.answers(id).length;
    this.receive(line);
    await this.until(() => this.answers(id).length > before);
    return this.answers(id).at(-1) ?? {};
  }

  /**
   * Brings the connection to where requests of an era are served.
   *
   * @param version - the protocol version of a legacy handshake.
   */
  async open(era: Era, version: string = handshake.protocolVersion): Promise<this> {
    if (era === "modern") await this.request(era, "open", { method: "server/discover" });
    else {
      const params = { ...handshake, protocolVersion: version };
      await this.request(era, "open", { method: "initialize", params });
      this.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    }
    this.sent.length = 0;
    return this;
  }

  /** Takes a message of the server. */
  protected onSent(message: Sent): void {
    this.sent.push(message);
    for (const tell of this.#listeners.splice(0)) tell();
  }
}
