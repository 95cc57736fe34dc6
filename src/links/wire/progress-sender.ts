import type { Part } from "./protocol.ts";

/** What a {@link ProgressSender} sends by. */
export interface ProgressSetting {
  /** Whether more was written than the far side has taken. */
  readonly isFull: () => boolean;
  send(token: number, progress: Part): void;
}

/** Sends progress. While the far side does not take what is written, only the newest of each use is kept. */
export class ProgressSender {
  readonly #setting: ProgressSetting;
  readonly #newest = new Map<number, Part>();

  constructor(setting: ProgressSetting) {
    this.#setting = setting;
  }

  /** Sends a report, now or when there is room. */
  send(token: number, progress: Part): void {
    if (this.#setting.isFull()) this.#newest.set(token, progress);
    else this.#setting.send(token, progress);
  }

  /** There is room: sends what was kept. */
  flush(): void {
    const kept = [...this.#newest];
    this.#newest.clear();
    for (const [token, progress] of kept) this.send(token, progress);
  }

  /** A use has ended: what was kept of it is out of date. */
  forget(token: number): void {
    this.#newest.delete(token);
  }
}
