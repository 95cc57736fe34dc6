/**
 * Iterates over what it opens when that begins, and calls `release` when the iteration is over, however that came about;
 * it must be callable twice.
 */
export function leased<TValue>(open: () => AsyncIterable<TValue>, release: () => void): AsyncIterable<TValue> {
  const orRelease = <TResult>(run: () => TResult): TResult => {
    try {
      return run();
    } catch (cause) {
      release();
      throw cause;
    }
  };
  return {
    [Symbol.asyncIterator]() {
      const inner = orRelease(() => open()[Symbol.asyncIterator]());
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
          // Left first, so that the far side is still there to be told.
          const leaving = orRelease(() => inner.return?.());
          release();
          return (await leaving) ?? { done: true, value: undefined };
        },
      };
    },
  };
}
