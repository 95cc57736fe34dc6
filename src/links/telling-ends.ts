import { SurfaceError } from "../errors.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { isRelayed } from "../surface/relayed.ts";
import { createDropped } from "./droppable-port.ts";
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

function toCut({ member }: Operation<RequestVerb | SubscribeVerb>): SurfaceError {
  return new SurfaceError("DISCONNECTED", `Using "${member}": the connection has ended`);
}

/** Whether a live surface in this process ends with it what is under way when it closes. */
function isEnd(cause: unknown): boolean {
  return cause instanceof SurfaceError && (cause.code === "CLOSED" || cause.code === "ABORTED") && !isRelayed(cause);
}

async function ask(port: SurfaceChannel, use: Operation<RequestVerb>, life: Life): Promise<unknown> {
  try {
    return await port.request(use);
  } catch (cause) {
    if (!isEnd(cause) || use.options.signal?.aborted === true || !(await life.isOver())) throw cause;
    throw toCut(use);
  }
}

function iterate(port: SurfaceChannel, use: Operation<SubscribeVerb>, life: Life): AsyncIterator<unknown> {
  const inner = port.subscribe(use)[Symbol.asyncIterator]();
  let hasLeft = false;
  return {
    async next() {
      const step = await inner.next();
      if (step.done !== true || hasLeft || use.options.signal?.aborted === true || !(await life.isOver())) return step;
      throw toCut(use);
    },
    async return() {
      hasLeft = true;
      return (await inner.return?.()) ?? { done: true, value: undefined };
    },
  };
}

/** @throws SurfaceError `DROPPED` where what the link reaches is in this process, and was closed. */
async function connectTo<TAsked extends Spec>(
  link: Link,
  surface: Surface<TAsked>,
  options: UseOptions | undefined,
): Promise<Connection<TAsked>> {
  try {
    return await link.connect(surface, options);
  } catch (cause) {
    // A link that may find another one there later says `UNAVAILABLE`.
    if (cause instanceof SurfaceError && cause.code === "CLOSED") throw createDropped(surface.name);
    throw cause;
  }
}

/**
 * The same link, for whoever goes on when it has ended. What the end of its connection cuts short says so: over some links
 * iterations just end, and calls say that what they were made on is closed, which is enough for whoever hears of the end of
 * the connection too. And what is closed for good was dropped.
 */
export function tellingEnds(link: Link): Link {
  return {
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, options?: UseOptions): Promise<Connection<TAsked>> {
      const connection = await connectTo(link, surface, options);
      const life = new Life(connection);
      const port = connection.channel;
      const channel: SurfaceChannel = {
        request: (use) => ask(port, use, life),
        subscribe: (use) => ({ [Symbol.asyncIterator]: () => iterate(port, use, life) }),
      };
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
