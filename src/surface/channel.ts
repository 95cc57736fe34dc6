import type { CallOptions, EventPage, EventWait, WaitOptions } from "./client.ts";
import type { CollectionPage } from "./source.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Scope } from "../spine/scope.ts";

/** Verbs that are answered once, with the type of the answer. Answers of cells and collections may be stale. */
interface Answers {
  get: unknown;
  keys: readonly unknown[];
  /** `undefined` for an absent item. */
  item: unknown;
  list: CollectionPage<unknown, unknown>;
  latest: unknown;
  wait: EventWait;
  recent: EventPage;
  call: unknown;
}

/** Verbs that are answered again and again, with the type of the items. */
interface Items {
  watch: unknown;
  watchKeys: readonly unknown[];
  watchItem: unknown;
  watchList: CollectionPage<unknown, unknown>;
  open: unknown;
  /** The newest frame of a stream, as a list of none or one: at once, then after each newer one; may skip to the newest. */
  watchLatest: readonly unknown[];
  /** The kept occurrences of an event: at once, then after each further one; may skip to the newest. */
  watchRecent: EventPage;
}

/** A verb that is answered once. */
export type RequestVerb = keyof Answers;

/** A verb that is answered again and again. */
export type SubscribeVerb = keyof Items;

/** One use of a member. */
export interface Operation<TVerb extends RequestVerb | SubscribeVerb> {
  readonly verb: TVerb;
  readonly member: string;
  /** The key of the item, the page or the input; `undefined` for verbs that take none. */
  readonly argument: unknown;
  /** Options of other verbs are left out. */
  readonly options: CallOptions & WaitOptions & SendNotice;
}

interface SendNotice {
  /** Called before the operation fails, if its caller has gone and nothing of it was sent. Must not throw. */
  unsent?(): void;
}

/**
 * The untyped way to the members of a live surface: what a link carries, and what every typed client is built on. Its values
 * are validated by their owner, which also validates the arguments that arrive. `UNKNOWN_MEMBER` and `WRONG_KIND` refuse a
 * key that is no member, or a member of another kind.
 */
export interface SurfaceChannel {
  /** Returns the answer, or a promise of it if something waits. Throws, or the promise rejects. */
  request(operation: Operation<RequestVerb>): unknown;
  /** Returns the items. May throw at once. */
  subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown>;
  /**
   * Returns the same channel with every answer and item mapped by `to`, and repeated items of a watch left out. For channels
   * that decode their answers: mapping behind them would tell everything a turn later. Left out by all others.
   */
  as?(to: Carry): SurfaceChannel;
}

/** Maps a value that a channel carries. */
export type Carry = (carried: unknown) => unknown;

/** Makes a request, and returns the answer as its owner types it. */
export function requestFrom<TVerb extends RequestVerb>(
  channel: SurfaceChannel,
  operation: Operation<TVerb>,
): Answers[TVerb] | Promise<Answers[TVerb]> {
  // Owners answer each verb with this type, and links decode to it.
  return channel.request(operation) as Answers[TVerb] | Promise<Answers[TVerb]>;
}

/** Subscribes, and returns the items as their owner types them. */
export function subscribeTo<TVerb extends SubscribeVerb>(
  channel: SurfaceChannel,
  operation: Operation<TVerb>,
): AsyncIterable<Items[TVerb]> {
  // As above.
  return channel.subscribe(operation) as AsyncIterable<Items[TVerb]>;
}

/** A channel that ends with a scope: subscriptions end, new operations are refused; a call under way goes on to its end. */
export function createScopedChannel(inner: SurfaceChannel, scope: Scope): SurfaceChannel {
  return {
    request(operation) {
      scope.assertOpen();
      return inner.request(operation);
    },
    subscribe(operation) {
      scope.assertOpen();
      // Subscribed now, so that a closed surface says so at once. Nothing runs until the first `next()`.
      const values = inner.subscribe(operation);
      return new OwnedIterator({ open: () => values, scope, signal: operation.options.signal });
    },
  };
}

/** More than this cannot be told to have been missed: what counts them would lose count. */
const maxMissed = 1e9;

/** How many occurrences were missed, as another process has told it; `undefined` for what cannot be a number of them. */
export function toMissed(told: unknown): number | undefined {
  return Number.isSafeInteger(told) && Number(told) >= 0 && Number(told) <= maxMissed ? Number(told) : undefined;
}
