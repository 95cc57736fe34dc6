import { SurfaceError } from "../errors.ts";
import { toChannel, toPort, type ChannelPort, type FollowVerb, type Use } from "../surface/channel-port.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection, Link } from "./link.ts";

/** Follows a connection to its end: an iteration that is over then was cut off. */
class Life {
  #isOver = false;

  constructor({ leaving, closed }: Connection<unknown>) {
    const end = (): void => void (this.#isOver = true);
    leaving?.then(end, end);
    closed.then(end, end);
  }

  /** Whether it is over; what has ended meanwhile may be told a little later than what was cut off by that. */
  async isOver(): Promise<boolean> {
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    return this.#isOver;
  }
}

function iterate(port: ChannelPort, use: Use<FollowVerb>, life: Life): AsyncIterator<unknown> {
  const inner = port.follow(use)[Symbol.asyncIterator]();
  let hasLeft = false;
  return {
    async next() {
      const step = await inner.next();
      if (step.done !== true || hasLeft || use.options.signal?.aborted === true || !(await life.isOver())) return step;
      throw new SurfaceError("DISCONNECTED", `Using "${use.member}": the connection has ended`);
    },
    async return() {
      hasLeft = true;
      return (await inner.return?.()) ?? { done: true, value: undefined };
    },
  };
}

/**
 * The same link, whose iterations say that they were cut off by the end of their connection. Over some links they just
 * end, which is enough for whoever hears of the end of the connection too.
 */
export function tellingEnds(link: Link): Link {
  return {
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, options?: UseOptions): Promise<Connection<TAsked>> {
      const connection = await link.connect(surface, options);
      const life = new Life(connection);
      const port = toPort(connection.channel);
      const channel = toChannel({
        ask: (use) => port.ask(use),
        follow: (use) => ({ [Symbol.asyncIterator]: () => iterate(port, use, life) }),
      });
      const { client, closed, leaving } = connection;
      return {
        client,
        channel,
        closed,
        ...(leaving === undefined ? {} : { leaving }),
        close: () => connection.close(),
      };
    },
  };
}
