import type { JsonObject } from "../../schema/json.ts";
import { maxCredit } from "./protocol.ts";

/** What a {@link ServedStream} sends, and where. */
export interface ServedStreamSetting {
  readonly values: AsyncIterable<unknown>;
  /** How many items its consumer takes to begin with. */
  readonly credit: number;
  /** Fires when the consumer has gone. */
  readonly signal: AbortSignal;
  /** Whether more was written than the far side has taken. */
  readonly isFull: () => boolean;
  /** Writes an item. Errors: `UNSERIALISABLE`. */
  encode(this: void, value: unknown): JsonObject;
  /** Sends an item. Errors: `FRAME_TOO_LARGE`. */
  send(this: void, item: JsonObject): void;
}

/**
 * Sends the values of one iteration, as far as its consumer has credit. Without credit nothing is asked for: an
 * iteration over the newest value then skips to the newest, and one that must not lose any waits.
 */
export class ServedStream {
  readonly #setting: ServedStreamSetting;
  #credit: number;
  #wake: (() => void) | undefined;

  constructor(setting: ServedStreamSetting) {
    this.#setting = setting;
    this.#credit = setting.credit;
  }

  /** Lets it send so many more. */
  grant(credit: number): void {
    this.#credit = Math.min(this.#credit + credit, maxCredit);
    this.look();
  }

  /** Looks again whether it may go on: what was written has been taken. */
  look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Runs until the iteration ends, or the consumer has gone; rejects as the iteration does. */
  async run(): Promise<void> {
    const { values, signal } = this.#setting;
    const iterator = values[Symbol.asyncIterator]();
    const wake = (): void => this.look();
    signal.addEventListener("abort", wake, { once: true });
    try {
      await this.#pull(iterator);
    } finally {
      signal.removeEventListener("abort", wake);
      await iterator.return?.();
    }
  }

  async #pull(iterator: AsyncIterator<unknown>): Promise<void> {
    const { signal, encode, send } = this.#setting;
    while (!signal.aborted) {
      if (this.#credit <= 0 || this.#setting.isFull()) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      const step = await iterator.next();
      if (step.done === true || signal.aborted) return;
      this.#credit -= 1;
      send(encode(step.value));
    }
  }
}
