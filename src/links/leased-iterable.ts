/**
 * Iterates, and calls `release` once when the iteration is over, however that came about.
 */
export function leased<TValue>(values: AsyncIterable<TValue>, release: () => void): AsyncIterable<TValue> {
  return {
    [Symbol.asyncIterator]() {
      const inner = values[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const result = await inner.next();
            if (result.done === true) release();
            return result;
          } catch (cause) {
            release();
            throw cause;
          }
        },
        async return() {
          release();
          return (await inner.return?.()) ?? { done: true, value: undefined };
        },
      };
    },
  };
}
