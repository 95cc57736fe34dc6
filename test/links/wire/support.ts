import { openWireClient, type WireClientOptions } from "../../../src/links/wire/open-wire-client.ts";
import { WireServer, type WireServerOptions } from "../../../src/links/wire/wire-server.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { until } from "../../surface/support.ts";
import { createMemoryPair, type MemoryTransport, type Loose } from "../support/memory-transport.ts";
import { openRich, rich } from "../support/rich-surface.ts";

/** Serves a live surface to one peer. */
export function serveWire(...parameters: ConstructorParameters<typeof WireServer>): WireServer {
  return new WireServer(...parameters);
}

/** A rich surface, served over a pipe in memory to one client. */
export async function connectRich(options: WireClientOptions = {}, serving: WireServerOptions = {}) {
  const opened = openRich();
  const pair = createMemoryPair();
  const wireFaults: Fault[] = [];
  const served = serveWire(opened.live, pair.server, {
    onFault: (fault) => void wireFaults.push(fault),
    ...serving,
  });
  const connection = await openWireClient(rich, pair.client, options);
  return { ...connection, ...opened, pair, served, connection, wireFaults };
}

/** An end that speaks the protocol by hand. */
export class RawPeer {
  readonly heard: Loose[] = [];
  readonly #end: MemoryTransport;
  isClosed = false;
  /** Whether it does not answer a goodbye. */
  isRude = false;
  onMessage: (message: Loose) => void = () => {};

  constructor(end: MemoryTransport) {
    this.#end = end;
    end.listen({
      ended: () => (this.isClosed = true),
      drained: () => {},
      message: (message: Loose) => {
        this.heard.push(message);
        if (message.method === "surface/goodbye" && !this.isRude) this.tell("surface/goodbye", {});
        this.onMessage(message);
      },
    });
  }

  send(message: unknown): void {
    this.#end.inject(message);
  }

  ask(id: unknown, method: string, params?: unknown): void {
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
  }

  tell(method: string, params?: unknown): void {
    this.send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  answer(id: unknown, result: unknown): void {
    this.send({ jsonrpc: "2.0", id, result });
  }

  refuse(id: unknown, error: unknown): void {
    this.send({ jsonrpc: "2.0", id, error });
  }

  /** Waits for a message. */
  async next(fits: (message: Loose) => boolean): Promise<Loose> {
    await until(() => this.isClosed || this.heard.some(fits), "a message");
    return this.heard.find(fits);
  }

  /** Waits for the answer to a request. */
  reply(id: unknown): Promise<Loose> {
    return this.next((message) => message.id === id && message.method === undefined);
  }

  hello(): Promise<Loose> {
    this.ask("hello", "surface/hello", { protocol: 1, surface: "rich", members: {} });
    return this.reply("hello");
  }
}

/** A rich surface, served to a peer that speaks by hand. */
export function serveRaw(serving: WireServerOptions = {}) {
  const opened = openRich();
  const pair = createMemoryPair();
  const served = serveWire(opened.live, pair.server, { onFault: () => {}, ...serving });
  return { ...opened, pair, served, peer: new RawPeer(pair.client) };
}

/** What a server by hand says of every member that it is asked for: that it is the same. */
export function agree(hello: Loose): unknown {
  return { protocol: 1, surface: hello.params.surface, members: hello.params.members, heartbeatMs: 5000 };
}

/** A client of a server that speaks by hand, once they have shaken hands. */
export async function connectRaw(options: WireClientOptions = {}) {
  const pair = createMemoryPair();
  const peer = new RawPeer(pair.server);
  const opening = openWireClient(rich, pair.client, options);
  const hello = await peer.next((message) => message.method === "surface/hello");
  peer.answer(hello.id, agree(hello));
  const connection = await opening;
  peer.heard.length = 0;
  return { ...connection, connection, peer, pair };
}

/** The outcome of a use: its value, or the error that it rejected with. */
export function outcome(use: Promise<unknown>): Promise<Loose> {
  return use.catch((cause: unknown) => cause);
}
