import type { Refusal, SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** What reads as nothing: an item that is not handed out. */
export const skipped: unique symbol = Symbol("skipped");

/** Reads one item off the wire; returns {@link skipped} for one that is not handed out. */
export type ReadItem = (item: JsonObject) => unknown;

/** What a {@link ClientStream} is made of. */
export interface StreamSetting {
  /** How many items may be under way. */
  readonly window: number;
  /** Opens it, on the first `next()`; returns what reads its items. What either throws ends the iteration. */
  open(stream: ClientStream): ReadItem;
  /** Lets the far side send so many more. */
  grant(credit: number): void;
  /** The consumer has gone. */
  stop(): void;
}

interface Waiter {
  resolve(result: IteratorResult<unknown>): void;
  reject(cause: unknown): void;
}

/**
 * One consumer's iteration over what a far side sends, as far as it was allowed to. Items are read when they are asked
 * for; whoever asks for none is sent no more than the window.
 */
export class ClientStream implements AsyncIterableIterator<unknown> {
  readonly #setting: StreamSetting;
  #read: ReadItem | undefined;
  readonly #items: JsonObject[] = [];
  readonly #waiters: Waiter[] = [];
  #taken = 0;
  #end: { readonly cause: SurfaceError | Refusal | undefined } | undefined;

  constructor(setting: StreamSetting) {
    this.#setting = setting;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#read === undefined && this.#end === undefined) this.#open(reject);
      this.#flow();
    });
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#leave();
    return ended;
  }

  /** Takes an item off the wire. `false` when it was sent without credit. */
  take(item: JsonObject): boolean {
    if (this.#end !== undefined) return true;
    if (this.#items.length + this.#taken >= this.#setting.window) return false;
    this.#items.push(item);
    this.#flow();
    return true;
  }

  /** There is nothing more to come; what has come is still handed out. With a cause, that is what it ends with. */
  finish(cause?: SurfaceError | Refusal): void {
    this.#end ??= { cause };
    this.#flow();
  }

  /** Ends it at once, for a consumer who is not interested any more. */
  abandon(): void {
    this.#items.length = 0;
    this.finish();
  }

  #open(reject: Waiter["reject"]): void {
    try {
      this.#read = this.#setting.open(this);
    } catch (cause) {
      this.#waiters.pop();
      this.#end = { cause: undefined };
      reject(cause);
    }
  }

  #flow(): void {
    while (this.#waiters.length > 0 && (this.#items.length > 0 || this.#end !== undefined)) {
      const waiter = this.#waiters.shift();
      const item = this.#items.shift();
      if (waiter === undefined) return;
      if (item === undefined) this.#tellEnd(waiter);
      else this.#hand(item, waiter);
    }
  }

  #tellEnd(waiter: Waiter): void {
    const cause = this.#end?.cause;
    this.#end = { cause: undefined };
    if (cause === undefined) waiter.resolve(ended);
    else waiter.reject(cause);
  }

  #hand(item: JsonObject, waiter: Waiter): void {
    let value: unknown;
    try {
      value = this.#read?.(item);
    } catch (cause) {
      this.#leave();
      return waiter.reject(cause);
    }
    this.#giveBack();
    if (value === skipped) this.#waiters.unshift(waiter);
    else waiter.resolve({ done: false, value });
  }

  /** Gives credit back by halves of the window: a message an item would cost as much as the item. */
  #giveBack(): void {
    this.#taken += 1;
    if (this.#end !== undefined || this.#taken * 2 < this.#setting.window) return;
    const credit = this.#taken;
    this.#taken = 0;
    this.#setting.grant(credit);
  }

  #leave(): void {
    const isOpen = this.#read !== undefined && this.#end === undefined;
    this.abandon();
    if (isOpen) this.#setting.stop();
  }
}
