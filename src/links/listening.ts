import { codeOf, SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { scopeOf, type Served } from "../surface/implement-surface.ts";
import { createLinkBudgets, readLinkUse, type LinkBudgets, type LinkLimits, type LinkUse } from "./link-options.ts";
import type { WireTransport } from "./transport/base-transport.ts";
import { WireServer } from "./wire/wire-server.ts";

/** A live surface that peers can connect to. The caller that started it closes it. */
export interface Listening {
  /** Resolves once no peer can connect and all peers are gone; never rejects. */
  readonly closed: Promise<void>;
  /** Takes no new connections, waits a moment for running requests, and ends. The live surface stays open. Callable twice. */
  close(): Promise<void>;
}

/** Statistics of a listener. */
export interface ListenerStats {
  /** The use of each limit: its amount, and the number of refusals and of cut connections. */
  readonly limits: LinkUse;
}

/** A live surface that processes can connect to over a Unix domain socket. */
export interface SocketListening extends Listening {
  stats(this: void): ListenerStats;
  /** The full path of the socket. */
  readonly path: string;
}

/** A live surface that clients can connect to over web sockets. */
export interface WebListening extends Listening {
  stats(this: void): ListenerStats;
  /** The URL for a client on this machine. */
  readonly url: string;
  readonly port: number;
}

/** Options of every listener. */
export interface PeerOptions {
  /** Milliseconds of silence after which a peer is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number | undefined;
  /** Milliseconds until a peer must have said hello. @default 5_000 */
  readonly handshakeMs?: number | undefined;
  /** Bounds of the memory that peers can use. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits | undefined;
}

/** All peers of one listener. */
export class Peers {
  readonly #live: Served;
  readonly #options: PeerOptions;
  readonly budgets: LinkBudgets;
  readonly #peers = new Set<WireServer>();
  #closing: Promise<unknown> | undefined;

  constructor(live: Served, options: PeerOptions) {
    this.budgets = createLinkBudgets(options.limits);
    this.#live = live;
    this.#options = options;
  }

  /** Serves a peer until it goes. If all places are taken, the oldest peer that has not said hello gives way. */
  add(transport: WireTransport): void {
    const visit: { peer?: WireServer } = {};
    const place = this.budgets.peers.open(undefined, (_excess, what) => {
      if (what === "spare" || visit.peer?.isGreeted !== false) return;
      transport.destroy();
      place.release();
    });
    if (this.#closing !== undefined || place.take(1) !== undefined) return transport.destroy();
    const peer = new WireServer(this.#live, transport, { ...this.#options, budgets: this.budgets });
    visit.peer = peer;
    this.#peers.add(peer);
    void peer.closed.finally(() => {
      place.release();
      this.#peers.delete(peer);
    });
  }

  stats(): ListenerStats {
    return { limits: readLinkUse(this.budgets) };
  }

  /** Stops a server, says goodbye to all peers, and waits until both are gone. */
  async closeWith(server: NodeJS.EventEmitter & { readonly listening: boolean; close(): unknown }): Promise<void> {
    const closed = server.listening ? new Promise((resolve) => server.once("close", resolve)) : undefined;
    server.close();
    await this.close();
    await closed;
  }

  /** Says goodbye to all peers, and waits until they are gone. Callable twice. */
  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#peers].map((peer) => peer.close()));
    await this.#closing;
  }
}

/** A listener that {@link startListening} starts. */
interface ListenerSetup<TMore> {
  readonly live: Served;
  readonly where: string;
  /** Opens the listener. Disposers that it adds to `scope` also run if opening fails. */
  readonly open: (scope: Scope) => Promise<TMore>;
}

/** Returns the error of a listener that could not start. */
export function toListenError(where: string, cause: unknown): SurfaceError {
  if (cause instanceof SurfaceError) return cause;
  const message = `Cannot listen on "${where}": the system refused it with "${codeOf(cause)}"`;
  return new SurfaceError("UNAVAILABLE", message, { cause });
}

/** Starts a listener that ends with its live surface. @throws SurfaceError `CLOSED`, `UNAVAILABLE`, and the errors of `open`. */
export async function startListening<TMore>({ live, where, open }: ListenerSetup<TMore>): Promise<TMore & Listening> {
  const life = scopeOf(live, `listen on "${where}"`);
  life.assertOpen();
  const scope = new Scope(`the listener on "${where}"`);
  const closed = new Promise<void>((resolve) => scope.add(resolve));
  try {
    const more = await open(scope);
    life.assertOpen();
    scope.add(life.add(() => scope.close()));
    return Object.freeze({ ...more, closed, close: () => scope.close() });
  } catch (cause) {
    // The author needs the reason of the failed start, not that of a failed cleanup.
    await scope.close().catch(() => {});
    throw toListenError(where, cause);
  }
}
