import { expect } from "vitest";

type Item<TValue> = { readonly value: TValue } | "end" | Error;

/** A handler's source of values that a test pushes by hand; remembers how its iterations ended. */
export class Pushed<TValue> {
  opened = 0;
  finished = 0;
  aborted = 0;
  readonly #running = new Set<(value: Item<TValue>) => void>();

  get running(): number {
    return this.opened - this.finished;
  }

  push(value: TValue): void {
    for (const tell of [...this.#running]) tell({ value });
  }

  end(): void {
    for (const tell of [...this.#running]) tell("end");
  }

  fail(error: Error): void {
    for (const tell of [...this.#running]) tell(error);
  }

  /** The handler's part: gives what is pushed while it runs, and ends when its signal fires. */
  async *run(signal: AbortSignal): AsyncGenerator<TValue, void, undefined> {
    this.opened += 1;
    const queue: Item<TValue>[] = [];
    let wake = (): void => {};
    const tell = (item: Item<TValue>): void => {
      queue.push(item);
      wake();
    };
    const stop = (): void => {
      this.aborted += 1;
      tell("end");
    };
    this.#running.add(tell);
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const item = queue.shift();
        if (item === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (item === "end") return;
        else if (item instanceof Error) throw item;
        else yield item.value;
      }
    } finally {
      this.#running.delete(tell);
      signal.removeEventListener("abort", stop);
      this.finished += 1;
    }
  }
}

/** Reads a watch one step at a time. */
export function step<TValue>(values: AsyncIterable<TValue>) {
  const steps = values[Symbol.asyncIterator]();
  return { next: async (): Promise<TValue> => (await steps.next()).value, leave: async () => steps.return?.() };
}

/** Matches a stale reading. */
export function stale(value: unknown, reason: string): unknown {
  return { value, stale: { reason, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) } };
}

/** Resolves with the error of a use; with its answer in an object if it does not fail. */
export async function failureOf(use: Promise<unknown>): Promise<unknown> {
  return use.then(
    (value) => ({ answered: value }),
    (cause: unknown) => cause,
  );
}

export function fail(): never {
  throw new Error("secret");
}
