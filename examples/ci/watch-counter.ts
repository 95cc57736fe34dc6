import type { Link } from "surface-mcp";

/** How often a member was watched over a link. */
export interface WatchCount {
  /** Now. */
  readonly open: number;
  /** At once, at most. */
  readonly most: number;
  /** In all: one more for each connection that was lost meanwhile. */
  readonly opened: number;
}

/** Counts the watches of one cell that go over a link: what is served to many, and what that costs who serves it. */
export class WatchCounter {
  readonly #member: string;
  #open = 0;
  #most = 0;
  #opened = 0;

  constructor(member: string) {
    this.#member = member;
  }

  /** The same link, counted. */
  through(link: Link): Link {
    return {
      connect: async (surface, options) => {
        const connection = await link.connect(surface, options);
        const { channel } = connection;
        const counted: typeof channel = {
          request: (operation) => channel.request(operation),
          subscribe: (operation) =>
            operation.verb === "watch" && operation.member === this.#member
              ? this.#count(channel.subscribe(operation))
              : channel.subscribe(operation),
        };
        return { ...connection, channel: counted };
      },
    };
  }

  /** What was counted so far. */
  read(): WatchCount {
    return { open: this.#open, most: this.#most, opened: this.#opened };
  }

  #begin(): () => void {
    let isOver = false;
    this.#opened += 1;
    this.#open += 1;
    this.#most = Math.max(this.#most, this.#open);
    return () => {
      if (!isOver) this.#open -= 1;
      isOver = true;
    };
  }

  #count(values: AsyncIterable<unknown>): AsyncIterable<unknown> {
    return {
      [Symbol.asyncIterator]: () => {
        const inner = values[Symbol.asyncIterator]();
        const end = this.#begin();
        return {
          async next() {
            try {
              const item = await inner.next();
              if (item.done === true) end();
              return item;
            } catch (error) {
              end();
              throw error;
            }
          },
          async return() {
            end();
            return (await inner.return?.()) ?? { done: true, value: undefined };
          },
        };
      },
    };
  }
}
