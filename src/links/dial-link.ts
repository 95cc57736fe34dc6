import type { Dial, DialEvents, HeldLink } from "../spine/dial.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection, Link } from "./link.ts";

/** A connection as the spine holds it. */
export interface OpenedLink extends HeldLink {
  readonly channel: SurfaceChannel;
  /** See {@link Connection.isRemote}. */
  readonly isRemote: boolean;
}

/** What a dial needs to know. */
export interface DialSetting {
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** Keeps a connection that is being closed, until it is. */
  readonly closing: Set<Promise<void>>;
  /** Told of the first failure after each success. */
  onUnreachable(cause: unknown): void;
}

function hold(connection: Connection<Spec>, closing: Set<Promise<void>>): OpenedLink {
  const { channel, isRemote = false } = connection;
  let isClosed = false;
  return {
    channel,
    isRemote,
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

/** A few turns of the microtask queue: a connection that had ended when it was handed over has said so by then. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
}

async function tell(connection: Connection<Spec>, events: DialEvents<OpenedLink>, setting: DialSetting): Promise<void> {
  const link = hold(connection, setting.closing);
  const end = { isOver: false };
  const onEnd = (cause: unknown): void => {
    end.isOver = true;
    events.ended(cause);
    // Whoever opened it closes it, also when there is nothing left to end.
    link.close();
  };
  // It should not reject. One that does has ended all the same.
  connection.closed.then(({ cause }) => onEnd(cause), onEnd);
  await settle();
  // The spine has heard of its end already, as that of a link that was born dead.
  if (end.isOver) return;
  connection.leaving?.then(
    () => events.leaving(),
    () => {},
  );
  events.opened(link);
}

/** Turns a link, which promises, into a dial of the spine, which is told. Abandoning fires the dial's signal. */
export function toDial(setting: DialSetting): Dial<OpenedLink> {
  let isDown = false;
  const report = (cause: unknown): void => {
    if (!isDown) setting.onUnreachable(cause);
    isDown = true;
  };
  return (events) => {
    const abort = new AbortController();
    const connect = async (): Promise<void> => {
      let connection: Connection<Spec>;
      try {
        connection = await setting.link.connect(setting.surface, { signal: abort.signal });
      } catch (cause) {
        if (!abort.signal.aborted) report(cause);
        return events.failed(cause);
      }
      isDown = false;
      await tell(connection, events, setting);
    };
    void connect();
    return () => abort.abort();
  };
}
