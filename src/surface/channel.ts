import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Scope } from "../spine/scope.ts";
import type { Cancellation } from "../spine/signals.ts";
import type { CallOptions, EventPage, EventWait, WaitOptions } from "./client.ts";
import type { CollectionPage } from "./source.ts";

/** Verbs with one answer, and the type of the answer. Answers of cells and collections may be stale. */
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

/** A verb with one answer. */
export type RequestVerb = keyof Answers;

/**
 * A verb with a sequence of answers. `open` yields every frame. All others begin with the current state and may skip to the newest:
 * `watchLatest` yields the newest frame of a stream as a list of none or one, `watchRecent` the kept occurrences of an event as an
 * `EventPage`, the rest as their verb with one answer.
 */
export type SubscribeVerb = "watch" | "watchKeys" | "watchItem" | "watchList" | "open" | "watchLatest" | "watchRecent";

/** One operation on a member. */
export interface Operation<TVerb extends RequestVerb | SubscribeVerb> {
  readonly verb: TVerb;
  readonly member: string;
  /** The key of the item, the page or the input; `undefined` for verbs without an argument. */
  readonly argument: unknown;
  /** The options of this verb; options of other verbs are left out. */
  readonly options: CallOptions & WaitOptions & SendNotice & Pick<Cancellation, "whenAborted">;
}

interface SendNotice {
  /** Called before the operation fails, if its caller has gone before anything was sent. Must not throw. */
  unsent?(): void;
}

/** The untyped operations on a live surface, whose owner validates. They refuse with `UNKNOWN_MEMBER` or `WRONG_KIND`. */
export interface SurfaceChannel {
  /** Returns the answer, or a promise of it if something waits. Throws, or the promise rejects. */
  request(operation: Operation<RequestVerb>): unknown;
  /** Returns the items. May throw at once. */
  subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown>;
  /** Returns the same channel with each answer mapped, and repeats left out. Only for channels that decode: outside it costs a turn. */
  as?(to: ValueMapper): SurfaceChannel;
}

/** Maps an answer or an item of a channel. */
export type ValueMapper = (carried: unknown) => unknown;

/** Sends a request, and returns the answer with its type. */
export function requestFrom<TVerb extends RequestVerb>(
  channel: SurfaceChannel,
  operation: Operation<TVerb>,
): Answers[TVerb] | Promise<Answers[TVerb]> {
  // Owners answer each verb with this type, and links decode to it.
  return channel.request(operation) as Answers[TVerb] | Promise<Answers[TVerb]>;
}

/** Creates a channel that ends with a scope: subscriptions end, new operations are refused, a running call goes on. */
export function createScopedChannel(inner: SurfaceChannel, scope: Scope): SurfaceChannel {
  return {
    request(operation) {
      scope.assertOpen();
      return inner.request(operation);
    },
    subscribe(operation) {
      scope.assertOpen();
      // Subscribed now, so that a closed surface throws at once. Nothing runs until the first `next()`.
      const values = inner.subscribe(operation);
      return new OwnedIterator({ open: () => values, scope, signal: operation.options.signal });
    },
  };
}

// The reader could not count any further.
const maxMissed = 1e9;

/** Returns a number of missed occurrences from another process; `undefined` for any other value. */
export function toMissed(received: unknown): number | undefined {
  const count = Number.isSafeInteger(received) ? Number(received) : -1;
  return count >= 0 && count <= maxMissed ? count : undefined;
}
