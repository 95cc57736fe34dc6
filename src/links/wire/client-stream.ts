import type { Refusal, SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { NextQueue, type Pushing, type Sink } from "../../spine/pushing.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** What reads as nothing: an item that is not handed out. */
export const skipped: unique symbol = Symbol("skipped");

/** Reads one item off the wire; returns {@link skipped} for one that is not handed out. */
export type ReadItem = (item: JsonObject) => unknown;

/** What a {@link ClientStream} is made of. */
export interface StreamSetting {
  /** How many items may be under way. */
  readonly window: number;
  /** Opens it, when its consumer starts; returns what reads its items. What either throws ends the iteration. */
  open(stream: ClientStream): ReadItem;
  /** Lets the far side send so many more. */
  grant(credit: number): void;
  /** The consumer has gone. */
  stop(): void;
}

/**
 * One consumer's iteration over what a far side sends, as far as it was allowed to. Items are read when the consumer takes
 * them; while it takes none, no more than the window is sent.
 */
export class ClientStream implements AsyncIterableIterator<unknown>, Pushing<unknown> {
  readonly #setting: StreamSetting;
  readonly #nexts = new NextQueue(this);
  #sink: Sink<unknown> | undefined;
  #read: ReadItem | undefined;
  readonly #items: JsonObject[] = [];
  #taken = 0;
  #end: { readonly cause: SurfaceError | Refusal | undefined } | undefined;

  constructor(setting: StreamSetting) {
    this.#setting = setting;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get canPush(): boolean {
    return this.#sink === undefined;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#nexts.next();
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#leave();
    return ended;
  }

  push(sink: Sink<unknown>): void {
    this.#sink = sink;
    if (this.#end !== undefined) return this.resume();
    try {
      this.#read = this.#setting.open(this);
    } catch (cause) {
      return this.#fail(cause);
    }
    this.resume();
  }

  /** Hands on what has come, then the end. */
  resume(): void {
    while (this.#items.length > 0 && this.#sink?.isFull === false) this.#hand(this.#sink);
    if (this.#end === undefined || this.#items.length > 0) return;
    const sink = this.#sink;
    if (sink?.isFull !== false) return;
    this.#sink = undefined;
    const { cause } = this.#end;
    if (cause === undefined) sink.ended();
    else sink.failed(cause);
  }

  /** Takes an item off the wire. `false` when it was sent without credit. */
  take(item: JsonObject): boolean {
    if (this.#end !== undefined) return true;
    if (this.#items.length + this.#taken >= this.#setting.window) return false;
    this.#items.push(item);
    this.resume();
    return true;
  }

  /** There is nothing more to come; what has come is still handed out. With a cause, that is what it ends with. */
  finish(cause?: SurfaceError | Refusal): void {
    this.#end ??= { cause };
    this.resume();
  }

  /** Ends it at once, for a consumer who is not interested any more. */
  abandon(): void {
    this.#items.length = 0;
    this.finish();
  }

  #hand(sink: Sink<unknown>): void {
    const item = this.#items.shift();
    let value: unknown;
    try {
      value = item && this.#read?.(item);
    } catch (cause) {
      return this.#fail(cause);
    }
    this.#giveBack();
    if (value !== skipped) sink.value(value);
  }

  #fail(cause: unknown): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#leave();
    sink?.failed(cause);
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
