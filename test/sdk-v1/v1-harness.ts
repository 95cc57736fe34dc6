// oxlint-disable typescript/no-deprecated -- the low-level server of the SDK 1.x is what is attached to
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { ServableApp, Serving } from "../../src/index.ts";
import { attach } from "../../src/sdk-v1/attach.ts";
import type { AttachOptions } from "../../src/sdk-v1/attach-options.ts";
import { handshake } from "../fixtures/envelope.ts";

/** A message that a server sent. */
export type Sent = Readonly<Record<string, unknown>>;

/** What a request comes with, over transports that know who sends it. */
export interface Extra {
  readonly authInfo?: {
    token: string;
    clientId: string;
    scopes: string[];
    expiresAt?: number;
    extra?: Record<string, unknown>;
  };
}

/** Makes a server that is attached to nothing yet. */
export function createServer(): Server {
  return new Server({ name: "v1", version: "1.0.0" }, { capabilities: {} });
}

/** A server of the SDK 1.x that an app is attached to, spoken to in messages. Whoever opened it closes it. */
export class V1Harness {
  readonly server: Server;
  readonly attached: Serving;
  readonly sent: Sent[] = [];
  #client: InMemoryTransport | undefined;
  #listeners: (() => void)[] = [];

  constructor(app: ServableApp, options: AttachOptions = {}, server: Server = createServer()) {
    this.server = server;
    this.attached = attach(app, server, options);
  }

  /** Connects, and shakes hands. */
  async open(capabilities: object = {}): Promise<this> {
    const [client, server] = InMemoryTransport.createLinkedPair();
    this.#client = client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK's has no other way
    client.onmessage = (message) => {
      // As it would come over a wire.
      this.sent.push(JSON.parse(JSON.stringify(message)));
      for (const tell of this.#listeners.splice(0)) tell();
    };
    await this.server.connect(server);
    await client.start();
    await this.request("open", "initialize", { ...handshake, capabilities });
    await this.notify("notifications/initialized");
    this.sent.length = 0;
    return this;
  }

  /** Waits until `done` holds; looks again at whatever is sent. A hang is for the test's own timeout. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  answers(id: unknown): readonly Sent[] {
    return this.sent.filter((message) => !("method" in message) && message["id"] === id);
  }

  /** Every notice of a method that came, its params. */
  notices(method: string): readonly unknown[] {
    return this.sent.filter((message) => message["method"] === method).map((message) => message["params"]);
  }

  async post(message: object, extra: Extra = {}): Promise<void> {
    // As a client would that writes what it likes.
    await this.#client?.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage, extra);
  }

  async notify(method: string, params?: object): Promise<void> {
    await this.post(params === undefined ? { method } : { method, params });
  }

  /** Sends a request and waits for its answer. */
  async request(id: unknown, method: string, params?: object): Promise<Sent> {
    return this.answerTo({ id, method, ...(params === undefined ? {} : { params }) });
  }

  /** The same of a whole message, and of what it comes with. */
  async answerTo(message: { readonly id: unknown; readonly method: string }, extra: Extra = {}): Promise<Sent> {
    const { id } = message;
    const before = this.answers(id).length;
    await this.post(message, extra);
    await this.until(() => this.answers(id).length > before);
    return this.answers(id).at(-1) ?? {};
  }

  /** The client leaves. */
  async leave(): Promise<void> {
    await this.#client?.close();
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.attached.close();
  }
}
