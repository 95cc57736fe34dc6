import type { Served } from "../surface/implement-surfaces.ts";
import { createLinkBudgets, type LinkBudgets, type LinkLimits } from "./link-limits.ts";
import { type ServedWire, serveWire } from "./wire/serve-wire.ts";
import type { WireTransport } from "./wire/transport.ts";

/** What all who listen may be told. */
export interface PeerOptions {
  /** After how much silence a peer is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
  /** How long a peer may take to say who it is, in milliseconds. Default 5,000. */
  readonly handshakeMs?: number;
  /** Bounds of what peers can make the listener hold. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits;
}

/** Everybody who is connected to one listening surface. */
export class Peers {
  readonly #live: Served;
  readonly #options: PeerOptions;
  readonly budgets: LinkBudgets;
  readonly #peers = new Set<ServedWire>();
  #closing: Promise<unknown> | undefined;

  /** @throws SurfaceError `INVALID_OPTION` for limits that are none. */
  constructor(live: Served, options: PeerOptions) {
    this.budgets = createLinkBudgets(options.limits);
    this.#live = live;
    this.#options = options;
  }

  /** Serves one more, until it goes. Where all places are taken, the oldest peer that has not said who it is gives way. */
  add(transport: WireTransport): void {
    const visit: { peer?: ServedWire } = {};
    const place = this.budgets.peers.open(undefined, (_excess, what) => {
      if (what === "spare" || visit.peer?.isGreeted !== false) return;
      transport.destroy();
      place.release();
    });
    if (this.#closing !== undefined || place.take(1) !== undefined) return transport.destroy();
    const peer = serveWire(this.#live, transport, { ...this.#options, budgets: this.budgets });
    visit.peer = peer;
    this.#peers.add(peer);
    void peer.closed.finally(() => {
      place.release();
      this.#peers.delete(peer);
    });
  }

  /** Says goodbye to all, and waits until they are gone. Callable twice. */
  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#peers].map((peer) => peer.close()));
    await this.#closing;
  }
}
