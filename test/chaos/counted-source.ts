import type { CollectionChange, KeyedSource } from "../../src/index.ts";

/** Items that never change, and the number of those who listen. */
export class CountedSource implements KeyedSource<string, number> {
  readonly #count: number;
  /** Listeners now, at most, and over all. */
  active = 0;
  most = 0;
  subscribed = 0;

  constructor(count: number) {
    this.#count = count;
  }

  keys(): Iterable<string> {
    return Array.from({ length: this.#count }, (_, index) => `k${index}`);
  }

  get(key: string): number | undefined {
    return Number(key.slice(1));
  }

  subscribe(_fn: (change: CollectionChange<string>) => void): () => void {
    this.active += 1;
    this.subscribed += 1;
    this.most = Math.max(this.most, this.active);
    let isOver = false;
    return () => {
      if (!isOver) this.active -= 1;
      isOver = true;
    };
  }
}
