import { followSignal } from "../../spine/signals.ts";
import type { Clock } from "../../spine/clock.ts";
import { reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { kScope } from "../../surface/implement-surface.ts";
import type { Served } from "../../surface/implement-surfaces.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { Scope } from "../../spine/scope.ts";
import { createLinkBudgets, type LinkBudgets } from "../link-options.ts";
import { reachSurface } from "../reach-surface.ts";
import { defaultHandshakeMs, defaultHeartbeatMs } from "./protocol.ts";
import type { WireTransport } from "./transport.ts";
import { WireServer } from "./wire-server.ts";

/** What {@link serveWire} may be told. Times are in milliseconds. */
export interface ServeWireOptions {
  /** How long nothing is heard before the peer is asked whether it is there. Default 5,000. */
  readonly heartbeatMs?: number | undefined;
  /** How long a peer may take to say who it is. Default 5,000. */
  readonly handshakeMs?: number | undefined;
  /** Receives what was masked on its way out, and was not masked by its owner before. Default: the console's error stream. */
  readonly onFault?: FaultReporter | undefined;
  /** What its listener counts of all peers. Default: budgets of this peer alone. */
  readonly budgets?: LinkBudgets | undefined;
  /** Default: this machine's. */
  readonly clock?: Clock | undefined;
}

/** One peer that is served. Whoever serves it closes it. */
export interface ServedWire {
  /** Whether the peer has said who it is. */
  readonly isGreeted: boolean;
  /** Resolves when the connection has ended, however that came about; never rejects. */
  readonly closed: Promise<void>;
  /**
   * Says goodbye, lets what runs be answered, for five seconds at most, and ends. Callable twice. Does not close the live
   * surface.
   */
  close(): Promise<void>;
}

/** Ends a server with what it serves. Returns what forgets that. */
function endWith(scope: Scope, server: WireServer): () => void {
  // Goodbye is said before the first use is told: whoever is answered then knows why.
  const unfollow = followSignal(scope.signal, () => server.sayGoodbye());
  const forget = scope.add(() => server.close());
  return () => {
    unfollow();
    forget();
  };
}

/**
 * Serves a live surface, or several, to one peer, over a transport that it owns from now on. When what the peer uses
 * closes, this ends with it, as {@link ServedWire.close} does; when the peer goes, the uses that it had are aborted.
 */
export function serveWire(served: Served, transport: WireTransport, options: ServeWireOptions = {}): ServedWire {
  const forgets = new Map<Scope, () => void>();
  const follow = (scope: Scope): void => {
    if (!forgets.has(scope)) forgets.set(scope, endWith(scope, server));
  };
  const server = new WireServer({
    reach(asked) {
      const reached = reachSurface(served, asked);
      follow(reached.scope);
      return reached;
    },
    transport,
    clock: options.clock ?? systemClock,
    heartbeatMs: options.heartbeatMs ?? defaultHeartbeatMs,
    handshakeMs: options.handshakeMs ?? defaultHandshakeMs,
    budgets: options.budgets ?? createLinkBudgets(),
    report: toSafeReporter(options.onFault ?? reportToConsole),
  });
  follow(served[kScope]);
  void server.closed.then(() => {
    for (const forget of forgets.values()) forget();
  });
  return {
    get isGreeted() {
      return server.isGreeted;
    },
    closed: server.closed,
    close: () => server.close(),
  };
}
