import { SurfaceError } from "../errors.ts";
import type { Dial, DialEvents, HeldLink } from "../spine/connection-manager.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { isRelayed } from "../surface/relayed.ts";
import { createDropped } from "./reach-surface.ts";
import type { CloseReason, Connection, Link } from "./link.ts";

/** A connection as the spine holds it. */
export interface OpenedLink extends HeldLink {
  readonly channel: SurfaceChannel;
  /** See {@link Connection.isRemote}. */
  readonly isRemote: boolean;
  /** Returns whether the far side has not announced its end. */
  isOpen(): boolean;
}

/** `up`: a connection has opened. Otherwise the reason for its end. */
export type LinkChange = "up" | CloseReason["kind"];

/** Dependencies of {@link createDial}. */
export interface DialDeps {
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** Connections that are closing. */
  readonly closing: Set<Promise<void>>;
  /** Whether the user goes on when the link has ended for good, as with one of several siblings. */
  readonly outlivesLink: boolean;
  /** Returns a promise while dials have to wait. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Receives the first failure after each success. */
  onUnreachable(cause: unknown): void;
  /** Called when a connection has opened, and when it has ended. Must not throw. */
  readonly onLink?: ((change: LinkChange) => void) | undefined;
}

function hold(connection: Connection<Spec>, closing: Set<Promise<void>>): OpenedLink {
  const { channel, isRemote = false } = connection;
  let isClosed = false;
  return {
    channel,
    isRemote,
    isOpen: () => connection.state().kind === "open",
    close() {
      if (isClosed) return;
      isClosed = true;
      // A failure to close changes nothing: the connection is not used again.
      const done: Promise<void> = (async () => connection.close())()
        .catch(() => {})
        .finally(() => closing.delete(done));
      closing.add(done);
    },
  };
}

function report(connection: Connection<Spec>, events: DialEvents<OpenedLink>, deps: DialDeps): void {
  const link = hold(connection, deps.closing);
  const onEnd = (cause: unknown): void => {
    events.ended(cause);
    // The opener closes a connection, also one that has ended.
    link.close();
  };
  const state = connection.state();
  // It ended before it was handed over.
  if (state.kind === "ended") return onEnd(state.reason.cause);
  // It must not reject. If it does, the connection counts as ended.
  connection.closed.then(({ cause }) => onEnd(cause), onEnd);
  connection.leaving?.then(
    () => events.leaving(),
    () => {},
  );
  const { onLink } = deps;
  if (onLink !== undefined) {
    onLink("up");
    let hasLeft = false;
    connection.leaving?.then(
      () => (hasLeft = true),
      () => {},
    );
    connection.closed.then(
      // This side closes a connection whose far side said goodbye.
      ({ kind }) => onLink(hasLeft && kind === "closed" ? "gone" : kind),
      () => onLink("lost"),
    );
  }
  events.opened(link);
}

/** Refuses a connection of a custom link that does not report its end. */
function assertReportsEnd(connection: Connection<Spec>, { surface, closing }: DialDeps): void {
  const { state, closed }: Partial<Connection<Spec>> = connection;
  const missing = typeof state !== "function" ? "state()" : typeof closed?.then === "function" ? undefined : "closed";
  if (missing === undefined) return;
  hold(connection, closing).close();
  const problem = `the connection of its link has no ${missing}; return every member of the type Connection`;
  throw new SurfaceError("PROTOCOL_MISMATCH", `Cannot connect to surface "${surface.name}": ${problem}`);
}

async function connect(deps: DialDeps, signal: AbortSignal): Promise<Connection<Spec>> {
  const { link, surface, outlivesLink } = deps;
  try {
    const connection = await link.connect(surface, { signal });
    assertReportsEnd(connection, deps);
    return connection;
  } catch (cause) {
    // A link that may find another live surface there later says `UNAVAILABLE`.
    if (outlivesLink && cause instanceof SurfaceError && cause.code === "CLOSED") throw createDropped(surface.name);
    throw cause;
  }
}

/** Converts a link, which returns promises, into a dial of the spine, which takes callbacks. Abandoning a dial fires its signal. */
export function createDial(deps: DialDeps): Dial<OpenedLink> {
  let isDown = false;
  const dial = async (events: DialEvents<OpenedLink>, signal: AbortSignal): Promise<void> => {
    const gate = deps.gate?.();
    if (gate !== undefined) await gate;
    let connection: Connection<Spec>;
    try {
      connection = await connect(deps, signal);
    } catch (cause) {
      if (!signal.aborted && !isDown) {
        isDown = true;
        deps.onUnreachable(cause);
      }
      return events.failed(cause);
    }
    isDown = false;
    report(connection, events, deps);
  };
  return (events) => {
    const abort = new AbortController();
    void dial(events, abort.signal);
    return () => abort.abort();
  };
}

/**
 * Returns how an operation failed with its connection: `"sent"` if the far side may have acted, `"unsent"` if nothing was written.
 * `undefined` if the far side answered. The far side answers with these codes only about a surface that it uses itself.
 */
export function linkLossOf(cause: unknown): "sent" | "unsent" | undefined {
  if (isRelayed(cause) || !(cause instanceof SurfaceError)) return undefined;
  if (cause.code === "DISCONNECTED") return "sent";
  return cause.code === "UNAVAILABLE" ? "unsent" : undefined;
}
