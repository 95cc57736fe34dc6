import type { JsonObject } from "../../schema/json.ts";
import { toPushing, type Pushing, type Sink } from "../../spine/pushing.ts";
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
  /** Called once, when the values have ended and their maker has too. */
  over(this: void, failure?: { readonly cause: unknown }): void;
}

/**
 * Sends the values of one iteration, as far as its consumer has credit. Without credit nothing is asked for: an
 * iteration over the newest value then skips to the newest, and one that must not lose any waits.
 */
export class ServedStream implements Sink<unknown> {
  readonly #setting: ServedStreamSetting;
  readonly #values: Pushing<unknown>;
  #credit: number;
  #isOver = false;

  constructor(setting: ServedStreamSetting) {
    this.#setting = setting;
    this.#credit = setting.credit;
    this.#values = toPushing(setting.values);
  }

  /** Starts to send, until the values end or the consumer has gone. */
  start(): void {
    const { signal } = this.#setting;
    signal.addEventListener("abort", () => this.ended(), { once: true });
    if (signal.aborted) this.ended();
    else this.#values.push(this);
  }

  get isFull(): boolean {
    return this.#credit <= 0 || this.#setting.isFull();
  }

  /** Lets it send so many more. */
  grant(credit: number): void {
    this.#credit = Math.min(this.#credit + credit, maxCredit);
    this.look();
  }

  /** Looks again whether it may go on: what was written has been taken. */
  look(): void {
    if (!this.isFull) this.#values.resume();
  }

  value(value: unknown): void {
    if (this.#isOver) return;
    this.#credit -= 1;
    try {
      this.#setting.send(this.#setting.encode(value));
    } catch (cause) {
      this.failed(cause);
    }
  }

  ended(): void {
    this.#end();
  }

  failed(cause: unknown): void {
    this.#end({ cause });
  }

  #end(failure?: { readonly cause: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#values.return().then(
      () => this.#setting.over(failure),
      (cause: unknown) => this.#setting.over(failure ?? { cause }),
    );
  }
}
