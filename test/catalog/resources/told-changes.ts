/** Changes that a test tells, and how many iterate over them. What is told while nobody waits is lost. */
export function changes() {
  const waiting = new Set<(result: IteratorResult<unknown>) => void>();
  let open = 0;
  return {
    get open() {
      return open;
    },
    /** Resolves when somebody waits for the next. */
    async listening(): Promise<void> {
      while (waiting.size === 0) await new Promise((resolve) => setImmediate(resolve));
    },
    tell() {
      for (const wake of waiting) wake({ done: false, value: undefined });
      waiting.clear();
    },
    run(): AsyncIterable<unknown> {
      return {
        [Symbol.asyncIterator]() {
          open += 1;
          return {
            next: () => new Promise((resolve) => void waiting.add(resolve)),
            return: async () => {
              open -= 1;
              return { done: true, value: undefined };
            },
          };
        },
      };
    },
  };
}
