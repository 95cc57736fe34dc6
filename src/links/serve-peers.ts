import type { Served } from "../surface/implement-surfaces.ts";
import { serveWire } from "./wire/serve-wire.ts";
import type { WireTransport } from "./wire/transport.ts";

/** How many may be connected to one listening surface at once. */
export const maxPeers = 256;

/** What all who listen may be told. */
export interface PeerOptions {
  /** After how much silence a peer is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
  /** How long a peer may take to say who it is, in milliseconds. Default 5,000. */
  readonly handshakeMs?: number;
}

/** Everybody who is connected to one listening surface. */
export class Peers {
  readonly #live: Served;
  readonly #options: PeerOptions;
  readonly #peers = new Set<ReturnType<typeof serveWire>>();
  #closing: Promise<unknown> | undefined;

  constructor(live: Served, options: PeerOptions) {
    this.#live = live;
    this.#options = options;
  }

  /** Serves one more, until it goes. */
  add(transport: WireTransport): void {
    if (this.#closing !== undefined || this.#peers.size >= maxPeers) return transport.close();
    const peer = serveWire(this.#live, transport, this.#options);
    this.#peers.add(peer);
    void peer.closed.finally(() => this.#peers.delete(peer));
  }

  /** Says goodbye to all, and waits until they are gone. Callable twice. */
  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#peers].map((peer) => peer.close()));
    await this.#closing;
  }
}
