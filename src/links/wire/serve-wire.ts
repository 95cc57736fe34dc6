import { followSignal } from "../../spine/follow-signal.ts";
import type { Clock } from "../../spine/clock.ts";
import { reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { kChannel, kScope, type LiveSurface } from "../../surface/implement-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { defaultHandshakeMs, defaultHeartbeatMs } from "./protocol.ts";
import type { WireTransport } from "./transport.ts";
import { WireServer } from "./wire-server.ts";

/** What {@link serveWire} may be told. Times are in milliseconds. */
export interface ServeWireOptions {
  /** How long nothing is heard before the peer is asked whether it is there. Default 5,000. */
  readonly heartbeatMs?: number;
  /** How long a peer may take to say who it is. Default 5,000. */
  readonly handshakeMs?: number;
  /** Receives what was masked on its way out, and was not masked by its owner before. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** One peer that is served. Whoever serves it closes it. */
export interface ServedWire {
  /** Resolves when the connection has ended, however that came about; never rejects. */
  readonly closed: Promise<void>;
  /**
   * Says goodbye, lets what runs be answered, for five seconds at most, and ends. Callable twice. Does not close the live
   * surface.
   */
  close(): Promise<void>;
}

/**
 * Serves a live surface to one peer, over a transport that it owns from now on. When the live surface closes, this ends
 * with it, as {@link ServedWire.close} does; when the peer goes, the uses that it had are aborted.
 */
export function serveWire<TSpec extends Spec>(
  live: LiveSurface<TSpec>,
  transport: WireTransport,
  options: ServeWireOptions = {},
): ServedWire {
  const scope = live[kScope];
  const server = new WireServer({
    surface: live.surface,
    channel: live[kChannel],
    transport,
    clock: options.clock ?? systemClock,
    heartbeatMs: options.heartbeatMs ?? defaultHeartbeatMs,
    handshakeMs: options.handshakeMs ?? defaultHandshakeMs,
    report: toSafeReporter(options.onFault ?? reportToConsole),
  });
  // Goodbye is said before the first use is told: whoever is answered then knows why.
  const unfollow = followSignal(scope.signal, () => server.sayGoodbye());
  const forget = scope.add(() => server.close());
  void server.closed.then(() => {
    unfollow();
    forget();
  });
  return { closed: server.closed, close: () => server.close() };
}
