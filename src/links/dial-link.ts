import { SurfaceError } from "../errors.ts";
import type { Dial, DialEvents, HeldLink } from "../spine/connection-holder.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { createDropped } from "./droppable.ts";
import type { Connection, Link } from "./link.ts";

/** A connection as the spine holds it. */
export interface OpenedLink extends HeldLink {
  readonly channel: SurfaceChannel;
  /** See {@link Connection.isRemote}. */
  readonly isRemote: boolean;
  /** Whether its far side has announced no end. */
  isOpen(): boolean;
}

/** What a dial needs to know. */
export interface DialSetting {
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** Keeps a connection that is being closed, until it is. */
  readonly closing: Set<Promise<void>>;
  /** Whether the surface is used on when its link has ended for good, as one of several. */
  readonly outlivesLink: boolean;
  /** Returns a promise while dials have to wait. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Told of the first failure after each success. */
  onUnreachable(cause: unknown): void;
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
      // What closing it came to is nobody's concern any more: it is not used again.
      const end = async (): Promise<void> => connection.close();
      const done: Promise<void> = end()
        .catch(() => {})
        .finally(() => closing.delete(done));
      closing.add(done);
    },
  };
}

function tell(connection: Connection<Spec>, events: DialEvents<OpenedLink>, setting: DialSetting): void {
  const link = hold(connection, setting.closing);
  const onEnd = (cause: unknown): void => {
    events.ended(cause);
    // Whoever opened it closes it, also when there is nothing left to end.
    link.close();
  };
  const state = connection.state();
  // A link that was born dead.
  if (state.kind === "ended") return onEnd(state.reason.cause);
  // It should not reject. One that does has ended all the same.
  connection.closed.then(({ cause }) => onEnd(cause), onEnd);
  connection.leaving?.then(
    () => events.leaving(),
    () => {},
  );
  events.opened(link);
}

/** Refuses a connection of a link written by hand that does not tell how it ends. */
function assertTells(connection: Connection<Spec>, { surface, closing }: DialSetting): void {
  const { state, closed }: Partial<Connection<Spec>> = connection;
  if (typeof state === "function" && typeof closed?.then === "function") return;
  hold(connection, closing).close();
  const problem = `the connection of its link has no ${typeof state === "function" ? "closed" : "state()"}; return every member of the type Connection`;
  throw new SurfaceError("PROTOCOL_MISMATCH", `Cannot connect to surface "${surface.name}": ${problem}`);
}

async function connect(setting: DialSetting, signal: AbortSignal): Promise<Connection<Spec>> {
  const { link, surface, outlivesLink } = setting;
  try {
    const connection = await link.connect(surface, { signal });
    assertTells(connection, setting);
    return connection;
  } catch (cause) {
    // A link that may find another live surface there later says `UNAVAILABLE`.
    if (outlivesLink && cause instanceof SurfaceError && cause.code === "CLOSED") throw createDropped(surface.name);
    throw cause;
  }
}

/** Turns a link, which promises, into a dial of the spine, which is told. Abandoning fires the dial's signal. */
export function toDial(setting: DialSetting): Dial<OpenedLink> {
  let isDown = false;
  const report = (cause: unknown): void => {
    if (!isDown) setting.onUnreachable(cause);
    isDown = true;
  };
  const dial = async (events: DialEvents<OpenedLink>, signal: AbortSignal): Promise<void> => {
    const gate = setting.gate?.();
    if (gate !== undefined) await gate;
    let connection: Connection<Spec>;
    try {
      connection = await connect(setting, signal);
    } catch (cause) {
      if (!signal.aborted) report(cause);
      return events.failed(cause);
    }
    isDown = false;
    tell(connection, events, setting);
  };
  return (events) => {
    const abort = new AbortController();
    void dial(events, abort.signal);
    return () => abort.abort();
  };
}
