import type { Carry, SurfaceChannel } from "./channel.ts";
import { andThen } from "./is-thenable.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/**
 * The values of an iteration as `to` makes them, without those that repeat the one before. Opened and ended with the
 * iteration that it is made of; a `next()` that waits ends when that one's does.
 */
function mapDistinct<TFrom, TTo>(values: AsyncIterable<TFrom>, to: (value: TFrom) => TTo): AsyncIterable<TTo> {
  return {
    [Symbol.asyncIterator]() {
      const inner = values[Symbol.asyncIterator]();
      let last: { readonly value: TTo } | undefined;
      return {
        async next() {
          for (;;) {
            const result = await inner.next();
            if (result.done === true) return ended;
            const value = to(result.value);
            if (last !== undefined && Object.is(last.value, value)) continue;
            last = { value };
            return { done: false, value };
          }
        },
        async return() {
          await inner.return?.();
          return ended;
        },
      };
    },
  };
}

/**
 * Returns a channel to the same members that maps every answer and item by `to`, and leaves out repeated items. Holds nothing
 * of its own.
 */
export function carryAs(channel: SurfaceChannel, to: Carry): SurfaceChannel {
  const mapped: SurfaceChannel = {
    request: (operation) => andThen(channel.request(operation), to),
    subscribe: (operation) => mapDistinct(channel.subscribe(operation), to),
  };
  return channel.as?.(to) ?? mapped;
}
