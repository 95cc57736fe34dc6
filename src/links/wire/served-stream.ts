import type { JsonObject } from "../../schema/json.ts";
import { toPushing, type Pushing, type Sink } from "../../spine/pushing.ts";
import { maxCredit } from "./protocol.ts";

/** Reads an amount of credit, at most what a stream can use; returns `undefined` for anything else. */
export function readCredit(given: unknown): number | undefined {
  return typeof given === "number" && Number.isSafeInteger(given) && given >= 0
    ? Math.min(given, maxCredit)
    : undefined;
}

/** Dependencies of a {@link ServedStream}. */
interface ServedStreamDeps {
  readonly values: AsyncIterable<unknown>;
  /** Items that the consumer takes at first. */
  readonly credit: number;
  /** Fires when the consumer has gone. */
  readonly signal: AbortSignal;
  /** Whether more was written than the far side has taken. */
  readonly isFull: () => boolean;
  /** Writes an item. @throws SurfaceError `UNSERIALISABLE`. */
  encode(this: void, value: unknown): JsonObject;
  /** Sends an item. @throws SurfaceError `FRAME_TOO_LARGE`. */
  send(this: void, item: JsonObject): void;
  /** Called once, after the iteration has ended and returned. */
  over(this: void, failure?: { readonly cause: unknown }): void;
}

/**
 * Sends the values of one iteration within the credit of its consumer. Without credit it pulls no values: an iteration over
 * the newest value then skips to the newest, and a lossless one waits.
 */
export class ServedStream implements Sink<unknown> {
  readonly #setting: ServedStreamDeps;
  readonly #values: Pushing<unknown>;
  #credit: number;
  #isOver = false;

  constructor(setting: ServedStreamDeps) {
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

  /** Adds credit. */
  grant(credit: number): void {
    this.#credit = Math.min(this.#credit + credit, maxCredit);
    this.look();
  }

  /** Goes on, if the far side has taken what was written. */
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
