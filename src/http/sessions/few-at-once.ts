/** Works on many items, a few of them at the same time: so that a burst of commands does not delay those of requests. */
export class FewAtOnce<TItem> {
  readonly #most: number;
  readonly #work: (item: TItem) => Promise<void>;
  readonly #waiting = new Set<TItem>();
  #working = 0;

  /** @param work - must not reject. */
  constructor(most: number, work: (item: TItem) => Promise<void>) {
    this.#most = most;
    this.#work = work;
  }

  /** Works on an item, perhaps later. One that waits already does so once. */
  add(item: TItem): void {
    this.#waiting.add(item);
    if (this.#working < this.#most) void this.#run();
  }

  async #run(): Promise<void> {
    this.#working += 1;
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      await this.#work(item);
    }
    this.#working -= 1;
  }
}
